return {
	build = {
		description = "Builds an image",
		params = { image_name = "none", tag = "latest" },
		command = function(params)
			log.info("tool for " .. params.image_name .. ":" .. params.tag)
			return true
		end,
	},
}
