-- Calls one function of a plugin, and makes of what it gives back what programs say in lines.
local types = require("hostler_plugin")

local VERBS = { "update", "check", "get", "adopt" }

local function described(one)
	local verbs = {}
	for _, verb in VERBS do
		if type(one[verb]) == "function" then
			table.insert(verbs, verb)
		end
	end
	return {
		description = one.description or "",
		properties = one.properties or {},
		attributes = one.attributes or {},
		verbs = if #verbs > 0 then verbs else nil,
		example = one.example,
	}
end

local function manifest()
	local told = {}
	for name, one in types do
		if type(one) ~= "table" or type(one.create) ~= "function" or type(one.delete) ~= "function" then
			error(`the type {name} is no table with the functions create and delete`, 0)
		end
		told[name] = described(one)
	end
	return { protocol = 1, types = told }
end

local function reply(told)
	if told == nil then
		return { reply = "done" }
	end
	if type(told) ~= "table" then
		error("a function of a plugin gives back a table, or nothing", 0)
	end
	if told.not_found then
		return { reply = "not_found" }
	end
	if told.failed then
		return { reply = "failed", reason = tostring(told.failed), retryable = told.retryable == true }
	end
	if told.in_progress then
		local going = type(told.in_progress) == "table" and told.in_progress or {}
		return {
			reply = "in_progress",
			reference = told.reference,
			state = going.state,
			poll_after = going.poll_after,
		}
	end
	return {
		reply = "done",
		reference = told.reference,
		attributes = told.attributes,
		state = told.state,
		properties = told.properties,
	}
end

local function call(request)
	local one = types[request.type]
	if type(one) ~= "table" then
		return { reply = "failed", reason = `there is no type {request.type}`, retryable = false }
	end
	local f = one[request.verb]
	if type(f) ~= "function" then
		return { reply = "failed", reason = `{request.type} has no function {request.verb}`, retryable = false }
	end
	for name in request.properties do
		if not (one.properties or {})[name] then
			return { reply = "failed", reason = `there is no property {name}`, retryable = false }
		end
	end
	local ctx = {
		verb = request.verb,
		type = request.type,
		key = request.key,
		name = request.name,
		changed = request.changed or {},
		prior = request.prior,
		waiting = request.waiting,
		left = request.left,
		deadline = request.deadline,
	}
	local fine, told = pcall(f, ctx, request.properties)
	if not fine then
		return { reply = "failed", reason = tostring(told), retryable = false }
	end
	return reply(told)
end

workflow.define("plugin"):tasks({
	task("call")
		:timeout(values.timeout)
		:command(function()
			if values.request == nil then
				return true, "", { reply = manifest() }
			end
			return true, "", { reply = call(values.request) }
		end)
		:build(),
})
