package policy

import (
	"os"
	"testing"
)

func TestDecideAsksAboutTextEvaluatedByBash(t *testing.T) {
	p := parsePolicy(t, "[[rule]]\ndecision = \"deny\"\ncommand = [\"rm\"]")
	for _, command := range []string{
		"[[ 'a[$(rm x)]' -eq 0 ]]", "[[ 0 -lt 'a[$(rm x)]' ]]", "[[ -v 'a[$(rm x)]' ]]", "test -v 'a[$(rm x)]'", "[ -v 'a[`rm x`]' ]", "read 'a[$(rm x)]' <<< 1", "printf -v 'a[$(rm x)]' 1",
		"let 'a[$(rm x)]=1'", "unset 'a[$(rm x)]'", "declare -n r='a[$(rm x)]'; r=1", "declare -i n='a[$(rm x)]'", "wait -p 'a[$(rm x)]' -n", "x='a[$(rm x)]'; ((x))", "x='a[$(rm x)]'; echo $((x))",
		"x='1 + b[0] + a[ $(rm x) ]'; [[ x -eq 1 ]]", "x=a\\[\\$\\(rm\\ x\\)\\]; let x", `x="a[\$(rm x)]"; test -v "$x"`, `x='a['"\$(rm x)]"; unset "$x"`, `x=$'a[\x24(rm x)]'; ((x))`, `x=$'a\x5b$(rm x)]'; ((x))`,
		"for x in 'a[$(rm x)]'; do ((x)); done", "xs=('a[$(rm x)]'); ((xs[0]))", "x='${y@P}'; z='a[${y@P}]'; ((z))", "bash -c 'test -v \"a[\\$(rm x)]\"'", "(( a['$(rm x)'] ))", "echo $(( a['$(rm x)'] ))",
		"test -v 'a[b[0]+$(rm x)]'", "read 'a[b[0]+$(rm x)]' <<< 1", `printf -v 'a["]"+$(rm x)]' 1`, "unset 'a[\\]$(rm x)]'", "let 'a[${b#]}$(rm x)]=1'", "x='a[b[$c]`rm x`]'; ((x))",
		"test -v 'a[${ rm x; }]'", "test -v 'a[${|rm x; }]'", "(( a['${ rm x; }'] ))",
		"declare -a 'a=($(rm x))'", "declare -a a='(`rm x`)'", "declare -A a='([$(rm x)]=1)'", "a=(1); export a='( $(rm x) )'", "y='($(rm x))'; declare -a a=$y", "x='$(rm x)'; declare a[$x]=1",
		"let \"$x\"", "printf -v \"$x\" 1", "unset \"$x\"", "wait -p \"$x\"", "test -v \"$x\"", "[[ -v $x ]]", "declare -n \"$x\"",
	} {
		if v := p.Decide(Action{Tool: "exec", Command: command, CWD: "/", Home: "/h", Write: true}); v.Decision == Allow {
			t.Errorf("%s: %+v", command, v)
		}
	}
	for _, command := range []string{
		"awk '{a[$1]++} END {for (k in a) print k, a[k]}' f", "[[ $n -gt 3 ]]", "[[ $(wc -l < f) -gt 3 ]]", "((i++))", "echo $((a[i] + 1))", "a[1]=2; echo ${a[1]} ${a[$i]}", "read -r -p \"$msg\" x", "test -n \"$x\"", "[ -f \"$x\" ]",
		"git commit -m 'fix [x] and `y`'", "grep 'a[bc]' f", "printf '%s\\n' \"$x\"", "echo $'\\e[31mred\\e[0m'", "unset x", "printf -v x %s 1", "let i+=1", "[[ -v x ]]", "declare -n r=x", "cat > x.sh <<'EOF'\na[$(ls)]=1\nEOF", "wait -n",
		"[[ $x == 'a['* ]]", "echo 'a[0] and `b`'", "echo 'a[b[0]] $(x)'", "awk '($1 > 0) {print $(NF-1)}' f", "grep -E '(a|b)$' f", "declare -a a=(1 2)", "declare a[0]=1", "[[ ${#a[@]} -eq 0 ]]",
	} {
		if v := p.Decide(Action{Tool: "exec", Command: command, CWD: "/", Home: "/h", Write: true}); v.Decision != Allow {
			t.Errorf("%s: %+v, want allow", command, v)
		}
	}
}

func TestPathsThroughProcMatchTheirTargets(t *testing.T) {
	p := parsePolicy(t, "[[rule]]\ndecision = \"deny\"\npath = [\"/etc/shadow\", \"/etc/ssl/**\"]")
	home, work := newHome(t)
	if err := os.Symlink("/proc/1/root", work+"/root"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("loop", work+"/loop"); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]Decision{
		"cat loop/x":                  Allow, // a link to itself cannot be read
		"cat /proc/1/root/etc/shadow": Deny, "sudo cat /proc/2/root/etc/shadow": Deny, "cat /proc/self/root/etc/shadow": Deny, "cat /proc/thread-self/root/etc/shadow": Deny,
		"cat /proc/1/task/1/root/etc/shadow": Deny, "cat /proc/self/root/proc/1/root/etc/../etc/shadow": Deny, "cat < /proc/1/root/etc/shadow": Deny, "ls /proc/1/root/etc/ssl/private": Deny,
		"cat root/etc/shadow": Deny, "cat /proc/999999/root/etc/shadow": Deny,
		"cd /proc/1/root/etc; cat shadow": Deny, "cd /proc/self/root/etc && cat shadow": Deny,
		"cat /proc/1/cwd/etc/shadow": Ask, "cat /proc/1/fd/3": Ask, "cat /proc/self/fd/3/shadow": Ask, "cat /proc/*/root/etc/shadow": Ask, "cat /proc/[1]/root/etc/shadow": Ask, "cat /proc/1/ro*t/etc/shadow": Ask, "cat /proc/self/cwd/shadow": Ask,
		"cat /proc/1/status": Allow, "cat /proc/cpuinfo": Allow, "grep x /proc/*/status": Allow, "cat /dev/stdin": Allow, "cat /dev/fd/3": Allow, "ls /proc/1/root/usr": Allow, "ls /proc/self/fd": Allow,
	} {
		if v := p.Decide(Action{Tool: "exec", Command: command, CWD: work, Home: home, Write: true}); v.Decision != want {
			t.Errorf("%s: %+v, want %s", command, v, want)
		}
	}
	for path, want := range map[string]Decision{"/proc/1/root/etc/shadow": Deny, "/proc/1/fd/3": Ask, "/proc/1/status": Allow} {
		if v := p.Decide(Action{Tool: "read", Paths: []string{path}, CWD: work, Home: home}); v.Decision != want {
			t.Errorf("%s: %+v, want %s", path, v, want)
		}
	}
}
