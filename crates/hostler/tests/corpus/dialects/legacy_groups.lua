-- about: every group of `TaskDefinitions` is a workflow, and one of them can be chosen
-- args: --workflow second
-- expect: exit 0
-- expect: not-out from the first
-- expect: out t | from the second
-- expect: steps t=succeeded
TaskDefinitions = {
	first = { tasks = { { name = "t", command = "echo from the first" } } },
	second = { tasks = { { name = "t", command = "echo from the second" } } },
}
