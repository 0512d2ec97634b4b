package agents

import (
	"strings"
	"time"
)

// shellTasks run commands that end, or should.
var shellTasks = []task{
	{name: "run a command", do: func(w *work) {
		r := w.run("echo hello; echo world")
		want(r.text, "hello\nworld")
	}},
	{name: "a command fails", quick: true, do: func(w *work) {
		r := w.run("echo before; ls /nowhere; exit 3")
		want(r.text, "No such file")
		wantCode(r, 3)
	}},
	{name: "output on stderr alone", do: func(w *work) {
		r := w.run("echo 'warning: deprecated' >&2")
		want(r.text, "warning: deprecated")
		wantCode(r, 0)
	}},
	{name: "cd and export across calls", quick: true, setup: "mkdir -p a/b", do: func(w *work) {
		p := w.open("")
		w.line(p, "cd a/b && export STAGE=test")
		want(w.line(p, "echo $STAGE in $PWD").text, "test in .*/a/b")
	}},
	{name: "a heredoc with tabs", do: func(w *work) {
		p := w.open("")
		w.line(p, "cat > Makefile <<'END'\nall:\n\t@echo built\nEND")
		wantText(w.file("Makefile"), "all:\n\t@echo built\n")
	}},
	{name: "exclamation marks in a shell", do: func(w *work) {
		p := w.open("")
		want(w.line(p, `echo "Done!! Ship it!now"`).text, "Done!! Ship it!now")
	}},
	{name: "unicode names and output", setup: "mkdir 'Ünï 文'; echo 'naïve 日本 🚀' > 'Ünï 文/é.txt'", do: func(w *work) {
		want(w.run("ls -R; cat 'Ünï 文/é.txt'").text, "naïve 日本 🚀")
		w.edit("Ünï 文/é.txt", "🚀", "✅")
		wantText(w.file("Ünï 文/é.txt"), "naïve 日本 ✅\n")
	}},
	{name: "binary output", setup: "head -c 4096 /dev/zero | tr '\\0' '\\377' > image.bin; printf '\\211PNG\\r\\n\\032\\n' >> image.bin", do: func(w *work) {
		want(w.run("tail -c 200 image.bin").text, "PNG")
		want(w.run("wc -c < image.bin").text, "4104")
	}},
	{name: "10 MB of output, an error in the middle", files: map[string]string{"noise.sh": noise}, do: func(w *work) {
		p, r := w.first("sh noise.sh", 30*time.Second)
		if !strings.Contains(r.text, "ERROR") {
			r.text = w.hits(p, "sh noise.sh", "ERROR")
		}
		want(r.text, "ERROR: disk 7 is full")
	}},
	{name: "a minified line", setup: "(head -c 300000 /dev/zero | tr '\\0' x; echo; echo 'export default 1') > bundle.js", do: func(w *work) {
		want(w.run("cat bundle.js").text, "export default 1")
	}},
	{name: "a long build with a progress bar", files: map[string]string{"build.sh": progress}, do: func(w *work) {
		r := w.run("sh build.sh")
		want(r.text, "Built 42 files")
		wantCode(r, 0)
	}},
	{name: "a failing test is mended", quick: true, files: map[string]string{"sum.sh": "sum() { echo $(($1 - $2)); }\n", "test.sh": failing}, do: func(w *work) {
		r := w.run("sh test.sh")
		want(r.text, "FAIL.*sum 2 3")
		want(w.read("sum.sh", 0, 0), "sum")
		w.edit("sum.sh", "$1 - $2", "$1 + $2")
		r = w.run("sh test.sh")
		want(r.text, "all passed")
		wantCode(r, 0)
	}},
	{name: "a compile error is mended", needs: []string{"gcc", "make"}, files: map[string]string{"main.c": "#include <stdio.h>\nint main(void) {\n\tputs(\"hello\")\n\treturn 0;\n}\n",
		"Makefile": "hello: main.c\n\tgcc -o hello main.c\n"}, do: func(w *work) {
		want(w.run("make").text, "main.c:3.*error: expected")
		w.edit("main.c", "puts(\"hello\")", "puts(\"hello\");")
		want(w.run("make && ./hello").text, "hello")
	}},
	{name: "a command that takes longer than its time", do: func(w *work) {
		p, r := w.first("echo step 1; sleep 3; echo step 2; exit 4", time.Second)
		want(r.text, "step 1")
		r = w.rest(p)
		want(r.text, "step 2")
		wantCode(r, 4)
	}},
	{name: "stderr of a command that takes longer", do: func(w *work) {
		p, r := w.first("echo 'Compiling one' >&2; sleep 3; echo 'error: no main' >&2; exit 1", time.Second)
		want(r.text, "Compiling one")
		r = w.rest(p)
		want(r.text, "error: no main")
		wantCode(r, 1)
	}},
	{name: "a runaway is killed at its limit", do: func(w *work) {
		w.limit("echo $$ > pid; while :; do :; done", time.Second)
		want(w.sh("for n in $(seq 30); do kill -0 $(cat pid) 2>/dev/null || { echo gone; break; }; sleep 0.1; done"), "gone")
	}},
	{name: "ctrl+c of a runaway in a shell", do: func(w *work) {
		p := w.open("")
		w.flood(p, "while :; do echo spinning; done")
		want(w.line(p, "echo back again").text, "back again")
	}},
	{name: "a crash by a signal", do: func(w *work) {
		want(w.run("sh -c 'echo working; kill -SEGV $$'").text, "(?i)segv|segmentation|139|signal 11|-11")
	}},
	{name: "three builds side by side", files: map[string]string{"part.sh": "echo part $1 begins; sleep 1; echo part $1 done\n"}, do: func(w *work) {
		var parts []place
		for _, n := range []string{"1", "2", "3"} {
			parts = append(parts, w.begin("sh part.sh "+n))
		}
		for _, p := range parts {
			want(w.rest(p).text, "part . done")
		}
	}},
}

// noise prints 10 MB with one error in the middle.
const noise = `i=0
line=$(printf '%01000d' 0)
page=$(for n in 1 2 3 4 5 6 7 8 9 10; do echo "$line"; done)
while [ $i -lt 1000 ]; do echo "$page"; i=$((i+1)); [ $i = 500 ] && echo "ERROR: disk 7 is full"; done
echo finished
`

// progress paints a bar as builds do.
const progress = `i=0
while [ $i -le 100 ]; do printf '\r[%-20s] %3d%% compiling file%03d.c' "$(printf '%*s' $((i/5)) '' | tr ' ' '#')" $i $i; sleep 0.02; i=$((i+1)); done
echo
echo 'Built 42 files'
`

// failing is a test run of which one case fails.
const failing = `. ./sum.sh
i=0
while [ $i -lt 60 ]; do echo "ok   case $i"; i=$((i+1)); done
[ "$(sum 2 3)" = 5 ] || { echo "FAIL sum 2 3: got $(sum 2 3), want 5"; failed=1; }
while [ $i -lt 120 ]; do echo "ok   case $i"; i=$((i+1)); done
[ -z "$failed" ] && echo all passed || { echo 1 failed; exit 1; }
`

func wantCode(r reply, code int) {
	if r.code != code {
		giveUp("the exit code is %d, not %d, in %q", r.code, code, cut(r.text))
	}
}

func wantText(got, want string) {
	if got != want {
		giveUp("%q is not %q", got, want)
	}
}
