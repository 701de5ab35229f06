# Code that the checks of the sources share. `name` is the file that is being checked, relative to
# ROOT.

file(REAL_PATH ${ROOT} ROOT)

set(found 0)
function(forbid what)
  message(SEND_ERROR "${name}: ${what}")
  math(EXPR found "${found} + 1")
  set(found ${found} PARENT_SCOPE)
endfunction()
