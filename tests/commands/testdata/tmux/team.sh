# The tmux commands of Claude Code for a team: in the leader's window, and in a separate server.
# Heights of panes are omitted if tmux uses one of their rows for titles.
try() { echo "+ $*"; "$@" 2>&1; s=$?; [ $s = 0 ] || echo "status $s"; }
leader=$TMUX_PANE
try tmux -V
try tmux display-message -p '#{pane_id}'
try tmux display-message -t "$leader" -p '#{session_name}:#{window_index}'
window=$(tmux display-message -t "$leader" -p '#{session_name}:#{window_index}')
try tmux list-panes -t "$window" -F '#{pane_id}'
one=$(tmux split-window -d -t "$leader" -h -l 70% -P -F '#{pane_id}' -- cat); echo "one $one"
try tmux select-pane -t "$one" -P 'bg=default,fg=blue'
try tmux set-option -p -t "$one" pane-border-style fg=blue
try tmux set-option -p -t "$one" pane-active-border-style fg=blue
try tmux select-pane -t "$one" -T researcher
try tmux set-option -p -t "$one" pane-border-format '#[fg=blue,bold] #{pane_title} #[default]'
try tmux set-option -w -t "$window" pane-border-status top
try tmux respawn-pane -k -t "$one" -- "cd / && env A=b sh -c 'echo ready; exec cat'"
until tmux capture-pane -p -t "$one" | grep -q '^ready'; do :; done
two=$(tmux split-window -d -t "$one" -v -P -F '#{pane_id}' -- cat); echo "two $two"
try tmux select-pane -t "$two" -T tester
try tmux respawn-pane -k -t "$two" -- "stty -echo; echo begun; exec cat"
until tmux capture-pane -p -t "$two" | grep -q '^begun'; do :; done
try tmux send-keys -t "$two" 'say hello' Enter
until tmux capture-pane -p -t "$two" | grep -q '^say hello'; do :; done
try tmux capture-pane -p -t "$two"
try tmux capture-pane -p -J -t "$two" -S -50
try tmux list-panes -t "$window" -F '#{pane_id} #{pane_title} #{pane_width} #{pane_active} #{pane_dead}'
try tmux select-layout -t "$window" main-vertical
try tmux resize-pane -t "$leader" -x 30%
try tmux list-panes -t "$window" -F '#{pane_id} #{pane_left} #{pane_width}'
try tmux show-options -p -t "$one" pane-border-format
try tmux show-options -p -t "$one" window-style
try tmux show-options -w -t "$window" pane-border-status
try tmux has-session -t claude-hidden
try tmux new-session -d -s claude-hidden
try tmux break-pane -d -s "$two" -t claude-hidden:
try tmux list-panes -t "$window" -F '#{pane_id}'
try tmux list-panes -s -t claude-hidden -F '#{pane_id} #{window_index}'
try tmux join-pane -h -s "$two" -t "$window"
try tmux list-panes -t "$window" -F '#{pane_id} #{pane_active} #{pane_width}'
try tmux kill-session -t claude-hidden
try tmux kill-pane -t "$two"
try tmux kill-pane -t "$two"
try tmux kill-pane -t "$one"
try tmux list-panes -t "$window" -F '#{pane_id} #{pane_width}'
own="-L claude-swarm-1"
try tmux $own has-session -t claude-swarm | sed 's/server running on .*/server/; s/error connecting to .*/no server/'
try tmux $own new-session -d -s claude-swarm -n swarm-view -P -F '#{pane_id}'
try tmux $own list-windows -t claude-swarm -F '#{window_name}'
try tmux $own split-window -d -t %0 -h -P -F '#{pane_id}'
try tmux $own select-layout -t claude-swarm:swarm-view tiled
try tmux $own list-panes -t claude-swarm:swarm-view -F '#{pane_id} #{pane_width}x#{pane_height}'
try tmux $own send-keys -t %1 'true' Enter
try tmux $own kill-pane -t %1
try tmux $own kill-session -t claude-swarm
echo end
