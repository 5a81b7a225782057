-- Strider @VERSION@, for Lmod.
help([[@HELP@]])
whatis("Name: strider")
whatis("Version: @VERSION@")
whatis("Description: @DESCRIPTION@")
conflict("strider")
@REQUIRED@local root = @ROOT@
prepend_path("PATH", pathJoin(root, "bin"))
setenv("STRIDER_ROOT", root)
