# What Tandem has bash read in a private session: the same as in others, and then no file of its
# history, whatever the user's own files say.

. "${BASH_SOURCE[0]%/*}/bash.sh"
{ unset HISTFILE; } 2>/dev/null
