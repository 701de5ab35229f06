# Code that the checks of the sources share. `name` is the file that is being checked, relative to
# ROOT.

file(REAL_PATH ${ROOT} ROOT)

set(found 0)
function(forbid what)
  message(SEND_ERROR "${name}: ${what}")
  math(EXPR found "${found} + 1")
  set(found ${found} PARENT_SCOPE)
endfunction()

# included_headers(<variable>): the headers that `file` includes, without brackets or quotes.
function(included_headers variable)
  file(STRINGS ${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
  list(TRANSFORM includes REPLACE "^[^<\"]*[<\"]([^>\"]*)[>\"].*$" "\\1")
  set(${variable} ${includes} PARENT_SCOPE)
endfunction()
