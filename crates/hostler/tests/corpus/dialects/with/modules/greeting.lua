local greeting = {}
function greeting.of(word)
	return word .. " from greeting"
end
return greeting
