-- about: the oldest dialect: groups in `TaskDefinitions`, bodies called with (params, deps)
-- expect: exit 0
-- expect: out first | group pipeline
-- expect: out second | from first: 7
-- expect: err pipeline: succeeded
-- expect: steps first=succeeded second=succeeded
-- expect: order first second
TaskDefinitions = {
	pipeline = {
		description = "Two tasks in a row",
		tasks = {
			{
				name = "first",
				params = { size = "7" },
				command = function(params)
					log.info("group " .. params.group_name)
					return true, "ok", { size = params.size }
				end,
			},
			{
				name = "second",
				depends_on = "first",
				command = function(params, deps)
					log.info("from first: " .. deps.first.size)
					return true
				end,
			},
		},
	},
}
