loads = (loads or 0) + 1
return { hello = "hello", count = loads }
