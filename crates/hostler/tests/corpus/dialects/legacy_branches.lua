-- about: branches of the oldest dialect: after a failure, skipped, several at once, a task of another file
-- with: shared/tools.lua
-- covers: task next_if_fail uses params
-- covers: workflow create_workdir_before_run clean_workdir_after_run
-- expect: exit 4
-- expect: out on_a_fail | recovered
-- expect: out par | s1 Success
-- expect: out par | s2 Success
-- expect: out tool | tool for x
-- expect: steps a=failed on_a_fail=succeeded skipped=skipped par=succeeded tool=succeeded
local tools = import("shared/tools.lua")

TaskDefinitions = {
	g = {
		description = "Branches",
		create_workdir_before_run = true,
		clean_workdir_after_run = function(result)
			return not result.success
		end,
		tasks = {
			{
				name = "a",
				command = function()
					return false, "boom"
				end,
			},
			{ name = "on_a_fail", next_if_fail = "a", command = "echo recovered" },
			{ name = "skipped", depends_on = "a", command = "echo never" },
			{
				name = "par",
				command = function()
					local results, err = parallel({
						{ name = "s1", command = "true" },
						{ name = "s2", command = "true" },
					})
					for _, r in ipairs(results) do
						log.info(r.name .. " " .. r.status)
					end
					return err == nil, "done"
				end,
			},
			{ name = "tool", uses = tools.build, params = { image_name = "x" } },
		},
	},
}
