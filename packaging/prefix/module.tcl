#%Module
# Strider @VERSION@, for Environment Modules, and for Lmod without Lua files.
proc ModulesHelp {} {
  puts stderr {@HELP@}
}
module-whatis {@DESCRIPTION@}
conflict strider
@REQUIRED@set root @ROOT@
prepend-path PATH [file join $root bin]
setenv STRIDER_ROOT $root
