-- The oldest dialect: a task that fails, one that is there for that, and one that is skipped.
TaskDefinitions = {
	recover = {
		description = "What happens when something fails",
		tasks = {
			{ name = "breaks", command = "exit 3" },
			{ name = "mends", next_if_fail = "breaks", command = "echo mended" },
			{ name = "never", depends_on = "breaks", command = "echo never" },
		},
	},
}
