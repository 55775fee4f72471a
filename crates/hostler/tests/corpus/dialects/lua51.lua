-- about: what Lua 5.1 files do: varargs with select, closures, string patterns, `%`, unpack, pcall, metatables
-- expect: exit 0
-- expect: out t | 3 b=2 6 caught true
local Point = {}
Point.__index = Point
Point.__add = function(a, b)
	return setmetatable({ x = a.x + b.x }, Point)
end

local function count(...)
	return select("#", ...)
end

workflow.define("old"):tasks({
	task("t"):command(function()
		local key, value = string.match("a=1;b=2", "(%a)=(%d)$")
		local sum = setmetatable({ x = 2 }, Point) + setmetatable({ x = 4 }, Point)
		local ok, err = pcall(error, { code = "caught" })
		log.info(count(unpack({ 1, 2, 3 })), key .. "=" .. value, sum.x, err.code, tostring(not ok))
	end),
})
