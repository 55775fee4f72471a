-- A plugin of stacks: notes, each a file of a directory, called after the key that it was made under.

local function file_of(ctx, props)
	local prior = ctx.prior
	if prior and prior.reference then
		return prior.reference
	end
	-- Nobody knows whether it was made: the key that it would have been made under says which one it is.
	local key = (prior and prior.key ~= "" and prior.key) or ctx.key
	return props.directory .. "/" .. crypto.sha256(key):sub(1, 16) .. ".note"
end

local function done(file, props)
	return {
		reference = file,
		attributes = { file = file, words = #strings.split(strings.trim(props.text), " ") },
		properties = props,
	}
end

local function present(f)
	return function(ctx, props)
		local file = file_of(ctx, props)
		if not fs.exists(file) then
			return { not_found = true }
		end
		return f(ctx, props, file)
	end
end

return {
	["Example::Note"] = {
		description = "A note: a file with a text.",
		properties = {
			directory = { type = "string", description = "Where notes are kept; it is there.", required = true },
			text = { type = "string", description = "What the note says.", required = true, updatable = true },
		},
		attributes = {
			file = { type = "string", description = "The file." },
			words = { type = "integer", description = "How many words it has." },
		},
		example = {
			create = { directory = "${workdir}", text = "buy milk" },
			update = { text = "buy milk and bread" },
			replace = { text = "something else" },
		},
		create = function(ctx, props)
			local file = file_of(ctx, props)
			assert(fs.write(file, props.text))
			return done(file, props)
		end,
		update = present(function(ctx, props, file)
			assert(fs.write(file, props.text))
			return done(file, props)
		end),
		delete = present(function(ctx, props, file)
			assert(fs.rm(file))
		end),
		check = present(function(ctx, props, file)
			return done(file, props)
		end),
		get = present(function(ctx, props, file)
			return done(file, { directory = props.directory, text = fs.read(file) })
		end),
		adopt = present(function(ctx, props, file)
			return done(file, props)
		end),
	},
}
