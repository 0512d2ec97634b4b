package agents

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// A dayTask is one of fourteen tasks of a coding agent's day, as the calls that it makes.
//
// Each line is a tool and its arguments. "$id" is the last id in an answer, "$port" a free port. A
// line after "?" is only played if the call before it failed, for builds in which it does. "@name"
// changes to another agent, with the flags after it, and "@kill" kills the present one's server.
type dayTask struct {
	name  string
	setup string // script to run in the folder first
	calls string
}

var dayTasks = []dayTask{
	{"clone, search, test a package", `git init -q origin; cd origin; mkdir keys; echo 'func Encode(key string) []byte {' >keys/encode.go
echo 'echo ok keys' >test.sh; git add .; git -c user.name=a -c user.email=a@b commit -qm one`, `
exec {"command":"git clone -q origin repo && ls repo"}
grep {"pattern":"func Encode","path":"repo"}
read {"path":"repo/keys/encode.go"}
exec {"command":"sh test.sh","cwd":"repo"}`},
	{"dev server", "", `
process_start {"command":"exec python3 -m http.server $port --bind 127.0.0.1","name":"web","wait":{"port":$port}}
exec {"command":"curl -s 127.0.0.1:$port/nothing | head -n 3"}
process_log {"id":"web"}
process_start {"command":"nosuchserver","name":"typo"}
process_list {}
process_start {"command":"exec sleep 1000","name":"web","replace":true}
?process_stop {"id":"web"}
?process_start {"command":"exec sleep 1000","name":"web"}
process_stop {"id":"web"}`},
	{"REPLs", "", `
session_start {"command":"python3 -i -q","name":"py"}
session_exec {"id":"py","command":"for i in range(3):\n    print(i)\n"}
session_exec {"id":"py","command":"1/0"}
session_exec {"id":"py","command":"name = input('name? ')"}
session_exec {"id":"py","command":"Bob"}
?session_write {"id":"py","text":"Bob","enter":true}
session_exec {"id":"py","command":"print(name)"}
session_start {"name":"sh"}
session_exec {"id":"sh","command":"cd /; false"}
session_exec {"id":"sh","command":"pwd"}
history {"limit":5}`},
	{"an installer", `printf '%s\n' 'printf "Folder? "; read d; printf "Port [80]: "; read p; printf "Continue? [y/N] "; read c' \
'stty -echo; printf "Password: "; read w; stty echo; echo; echo installed in $d' >install.sh`, `
session_start {"command":"sh install.sh","name":"install"}
session_write {"id":"install","text":"/opt","enter":true}
session_write {"id":"install","enter":true}
session_write {"id":"install","text":"y","enter":true}
session_write {"id":"install","text":"s3cret","enter":true}`},
	{"a long build", `echo 'for i in $(seq 30); do printf "step $i\r"; sleep 0.1; done; echo; echo broken >&2; exit 3' >build.sh`, `
process_start {"command":"sh build.sh","name":"build"}
process_wait {"id":"build","timeout_ms":60000}`},
	{"a flaky test", `echo '[ $(($1 % 7)) != 0 ] || { echo "FAIL: seed $1"; exit 1; }' >test.sh`, `
exec {"command":"for i in $(seq 20); do sh test.sh $i >out 2>&1 || cat out; done"}`},
	{"edits", `printf 'one\r\ntwo\r\n' >crlf; printf '\357\273\277first\n' >bom; printf 'x\nx\n' >twice`, `
edit {"path":"crlf","edits":[{"search":"one\ntwo","replace":"1\n2"}]}
edit {"path":"bom","edits":[{"search":"first","replace":"1st"}]}
edit {"path":"twice","edits":[{"search":"x","replace":"y"}]}
edit {"path":"twice","edits":[{"search":"x","replace":"y","replaceAll":true}]}
read {"path":"crlf"}`},
	{"a commit in an editor", "git init -q .; git config user.name a; git config user.email a@b; echo 1 >f; git add f", `
session_start {"name":"sh"}
session_exec {"id":"sh","command":"EDITOR=vim git commit"}
session_write {"id":"sh","text":"ione","keys":["esc"]}
session_write {"id":"sh","text":":wq","enter":true}
session_exec {"id":"sh","command":"git log --oneline | cat"}
session_exec {"id":"sh","command":"less f"}
session_write {"id":"sh","text":"q"}
session_write {"id":"sh","text":"echo typed","enter":true}`},
	{"nested shells", "", `
session_start {"name":"sh"}
session_exec {"id":"sh","command":"bash --norc"}
session_exec {"id":"sh","command":"echo inner; false"}
session_exec {"id":"sh","command":"python3 -i -q"}
session_exec {"id":"sh","command":"6*7"}
session_exec {"id":"sh","command":"exit()"}
session_exec {"id":"sh","command":"exit 3"}
session_exec {"id":"sh","command":"echo outer"}`},
	{"floods and daemons", "", `
exec {"command":"seq 1000000"}
exec {"command":"sleep 1000","timeoutMs":300}
process_stop {"id":"$id"}
exec {"command":"sleep 1000 & echo started"}
exec {"command":"setsid sleep 1000 & disown"}
process_list {}
process_stop_all {}`},
	{"coming back", "", `
session_start {"name":"sh"}
session_exec {"id":"sh","command":"export MINE=kept; cd /"}
process_start {"command":"exec sleep 1000","name":"db"}
@kill
process_list {}
session_list {}
session_exec {"id":"sh","command":"echo $MINE; pwd"}
process_stop {"id":"db"}`},
	{"confinement", "", `
@strict --read-only
exec {"command":"true"}
write {"path":"f","content":"x"}
env_get {"key":"DEPLOY_TOKEN","reveal":true}
read {"path":"/etc/hostname"}
ls {}`},
	{"three agents", "", `
process_start {"command":"exec sleep 1000","name":"dev"}
@second
process_list {}
process_stop {"id":"dev"}
@third
process_start {"command":"exec sleep 1000","name":"dev"}
@
process_list {}
process_log {"id":"dev"}`},
	{"strange output", `printf '\033[31mred\033[0m \377 end\n' >odd; head -c 1000000 /dev/zero | tr '\0' x >min.js; echo NEEDLE >>min.js
printf 'bad\0AWS\n' >out.bin`, `
exec {"command":"cat odd"}
exec {"command":"cat min.js"}
grep {"pattern":"NEEDLE","path":"min.js"}
grep {"pattern":"bad|AWS","path":"out.bin"}
process_start {"command":"cat min.js","name":"big","wait":{}}
process_log {"id":"big","grep":"NEEDLE"}`},
}

var idInAnswer = regexp.MustCompile(`\b[0-9a-f]{12}\b`)

// A day plays tasks as agents of a program.
type day struct {
	program
	client string
	agents map[string]*server
}

func (d *day) connect(dir string, flags []string) *server {
	cmd := d.command(append([]string{"--serve"}, flags...)...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Env, "DEPLOY_TOKEN=hunter2")
	return startServer(cmd, d.client)
}

// play plays a task and returns the number of calls and the bytes shown to the model.
func (d *day) play(b *testing.B, t dayTask) (calls, text int) {
	dir := b.TempDir()
	setup := exec.Command("sh", "-c", t.setup)
	setup.Dir = dir
	if out, err := setup.CombinedOutput(); err != nil {
		b.Fatalf("%s: %v\n%s", t.name, err, out)
	}
	replaced := strings.NewReplacer("$port", fmt.Sprint(freePort(b)))
	d.agents = map[string]*server{"": d.connect(dir, nil)}
	now, failed, id := "", false, ""
	for line := range strings.Lines(t.calls) {
		line = replaced.Replace(strings.TrimSpace(line))
		switch word, rest, _ := strings.Cut(line, " "); {
		case line == "", line[0] == '?' && !failed:
		case line == "@kill":
			d.agents[now].cmd.Process.Signal(syscall.SIGKILL)
			d.agents[now].end()
			d.agents[now] = d.connect(dir, nil)
		case line[0] == '@':
			if now = word[1:]; d.agents[now] == nil {
				d.agents[now] = d.connect(dir, strings.Fields(rest))
			}
		default:
			var n int
			var answer string
			n, answer, failed = d.agents[now].playCall(strings.TrimPrefix(word, "?"), strings.ReplaceAll(rest, "$id", id))
			calls, text = calls+1, text+n
			if found := idInAnswer.FindAllString(answer, -1); len(found) > 0 {
				id = found[len(found)-1]
			}
		}
	}
	for _, s := range d.agents {
		s.end()
	}
	d.command("shutdown", "--all", "--yes").Run()
	return calls, text
}

// playCall calls a tool and returns the bytes shown to the model, those of an error included.
func (s *server) playCall(tool, args string) (n int, text string, failed bool) {
	defer func() {
		if why, ok := recover().(stuck); ok {
			n, text, failed = len(why), string(why), true
		}
	}()
	raw := s.ask("tools/call", map[string]any{"name": tool, "arguments": json.RawMessage(args)})
	n, a := s.modelView(raw)
	if s.trace != nil {
		fmt.Fprintf(s.trace, "  > %s %s (%d bytes)\n    %q\n", tool, args, n, truncateTrace(string(raw)))
	}
	return n, string(raw), a.failed
}

// BenchmarkDay prints the calls and the bytes that a model is shown in a day of fourteen tasks, for a
// client that shows text and for one that shows structured content.
func BenchmarkDay(b *testing.B) {
	fmt.Println("| calls / bytes | text | structured |\n|---|---|---|")
	var sum [2][2]int
	for _, t := range dayTasks {
		row := "| " + t.name + " |"
		for i, client := range []string{"agent", "claude-code"} {
			d := day{program: newProgram(b), client: client}
			calls, text := d.play(b, t)
			sum[i][0], sum[i][1] = sum[i][0]+calls, sum[i][1]+text
			row += fmt.Sprintf(" %d / %d |", calls, text)
		}
		fmt.Println(row)
	}
	fmt.Printf("| sum | %d / %d | %d / %d |\n", sum[0][0], sum[0][1], sum[1][0], sum[1][1])
}
