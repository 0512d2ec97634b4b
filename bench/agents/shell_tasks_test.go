package agents

import (
	"strings"
	"time"
)

// shellTasks run commands that exit, or should.
var shellTasks = []task{
	{name: "run a command", do: func(w *taskRun) {
		r := w.run("echo hello; echo world")
		wantMatch(r.text, "hello\nworld")
	}},
	{name: "a command fails", quick: true, do: func(w *taskRun) {
		r := w.run("echo before; ls /nowhere; exit 3")
		wantMatch(r.text, "No such file")
		wantCode(r, 3)
	}},
	{name: "output on stderr alone", do: func(w *taskRun) {
		r := w.run("echo 'warning: deprecated' >&2")
		wantMatch(r.text, "warning: deprecated")
		wantCode(r, 0)
	}},
	{name: "cd and export across calls", quick: true, setup: "mkdir -p a/b", do: func(w *taskRun) {
		p := w.openTerminal("")
		w.typeLine(p, "cd a/b && export STAGE=test")
		wantMatch(w.typeLine(p, "echo $STAGE in $PWD").text, "test in .*/a/b")
	}},
	{name: "a heredoc with tabs", do: func(w *taskRun) {
		p := w.openTerminal("")
		w.typeLine(p, "cat > Makefile <<'END'\nall:\n\t@echo built\nEND")
		wantText(w.fileText("Makefile"), "all:\n\t@echo built\n")
	}},
	{name: "exclamation marks in a shell", do: func(w *taskRun) {
		p := w.openTerminal("")
		wantMatch(w.typeLine(p, `echo "Done!! Ship it!now"`).text, "Done!! Ship it!now")
	}},
	{name: "unicode names and output", setup: "mkdir 'Ünï 文'; echo 'naïve 日本 🚀' > 'Ünï 文/é.txt'", do: func(w *taskRun) {
		wantMatch(w.run("ls -R; cat 'Ünï 文/é.txt'").text, "naïve 日本 🚀")
		w.editFile("Ünï 文/é.txt", "🚀", "✅")
		wantText(w.fileText("Ünï 文/é.txt"), "naïve 日本 ✅\n")
	}},
	{name: "binary output", setup: "head -c 4096 /dev/zero | tr '\\0' '\\377' > image.bin; printf '\\211PNG\\r\\n\\032\\n' >> image.bin", do: func(w *taskRun) {
		wantMatch(w.run("tail -c 200 image.bin").text, "PNG")
		wantMatch(w.run("wc -c < image.bin").text, "4104")
	}},
	{name: "10 MB of output, an error in the middle", files: map[string]string{"noise.sh": noisyScript}, do: func(w *taskRun) {
		p, r := w.runFor("sh noise.sh", 30*time.Second)
		if !strings.Contains(r.text, "ERROR") {
			r.text = w.grepOutput(p, "sh noise.sh", "ERROR")
		}
		wantMatch(r.text, "ERROR: disk 7 is full")
	}},
	{name: "a minified line", setup: "(head -c 300000 /dev/zero | tr '\\0' x; echo; echo 'export default 1') > bundle.js", do: func(w *taskRun) {
		wantMatch(w.run("cat bundle.js").text, "export default 1")
	}},
	{name: "a long build with a progress bar", files: map[string]string{"build.sh": progressScript}, do: func(w *taskRun) {
		r := w.run("sh build.sh")
		wantMatch(r.text, "Built 42 files")
		wantCode(r, 0)
	}},
	{name: "a failing test is mended", quick: true, files: map[string]string{"sum.sh": "sum() { echo $(($1 - $2)); }\n", "test.sh": failingTest}, do: func(w *taskRun) {
		r := w.run("sh test.sh")
		wantMatch(r.text, "FAIL.*sum 2 3")
		wantMatch(w.readFile("sum.sh", 0, 0), "sum")
		w.editFile("sum.sh", "$1 - $2", "$1 + $2")
		r = w.run("sh test.sh")
		wantMatch(r.text, "all passed")
		wantCode(r, 0)
	}},
	{name: "a compile error is mended", needs: []string{"gcc", "make"}, files: map[string]string{"main.c": "#include <stdio.h>\nint main(void) {\n\tputs(\"hello\")\n\treturn 0;\n}\n",
		"Makefile": "hello: main.c\n\tgcc -o hello main.c\n"}, do: func(w *taskRun) {
		wantMatch(w.run("make").text, "main.c:3.*error: expected")
		w.editFile("main.c", "puts(\"hello\")", "puts(\"hello\");")
		wantMatch(w.run("make && ./hello").text, "hello")
	}},
	{name: "a command that takes longer than its time", do: func(w *taskRun) {
		p, r := w.runFor("echo step 1; sleep 3; echo step 2; exit 4", time.Second)
		wantMatch(r.text, "step 1")
		r = w.awaitEnd(p)
		wantMatch(r.text, "step 2")
		wantCode(r, 4)
	}},
	{name: "stderr of a command that takes longer", do: func(w *taskRun) {
		p, r := w.runFor("echo 'Compiling one' >&2; sleep 3; echo 'error: no main' >&2; exit 1", time.Second)
		wantMatch(r.text, "Compiling one")
		r = w.awaitEnd(p)
		wantMatch(r.text, "error: no main")
		wantCode(r, 1)
	}},
	{name: "a runaway is killed at its limit", do: func(w *taskRun) {
		w.runWithTimeout("echo $$ > pid; while :; do :; done", time.Second)
		wantMatch(w.runShell("for n in $(seq 30); do kill -0 $(cat pid) 2>/dev/null || { echo gone; break; }; sleep 0.1; done"), "gone")
	}},
	{name: "ctrl+c of a runaway in a shell", do: func(w *taskRun) {
		p := w.openTerminal("")
		w.floodTerminal(p, "while :; do echo spinning; done")
		wantMatch(w.typeLine(p, "echo back again").text, "back again")
	}},
	{name: "a crash by a signal", do: func(w *taskRun) {
		wantMatch(w.run("sh -c 'echo working; kill -SEGV $$'").text, "(?i)segv|segmentation|139|signal 11|-11")
	}},
	{name: "three builds side by side", files: map[string]string{"part.sh": "echo part $1 begins; sleep 1; echo part $1 done\n"}, do: func(w *taskRun) {
		var parts []handle
		for _, n := range []string{"1", "2", "3"} {
			parts = append(parts, w.startBackground("sh part.sh "+n))
		}
		for _, p := range parts {
			wantMatch(w.awaitEnd(p).text, "part . done")
		}
	}},
}

// noisyScript prints 10 MB with one error in the middle.
const noisyScript = `i=0
line=$(printf '%01000d' 0)
page=$(for n in 1 2 3 4 5 6 7 8 9 10; do echo "$line"; done)
while [ $i -lt 1000 ]; do echo "$page"; i=$((i+1)); [ $i = 500 ] && echo "ERROR: disk 7 is full"; done
echo finished
`

// progressScript draws a progress bar like a build.
const progressScript = `i=0
while [ $i -le 100 ]; do printf '\r[%-20s] %3d%% compiling file%03d.c' "$(printf '%*s' $((i/5)) '' | tr ' ' '#')" $i $i; sleep 0.02; i=$((i+1)); done
echo
echo 'Built 42 files'
`

// failingTest is a test run with one failing case.
const failingTest = `. ./sum.sh
i=0
while [ $i -lt 60 ]; do echo "ok   case $i"; i=$((i+1)); done
[ "$(sum 2 3)" = 5 ] || { echo "FAIL sum 2 3: got $(sum 2 3), want 5"; failed=1; }
while [ $i -lt 120 ]; do echo "ok   case $i"; i=$((i+1)); done
[ -z "$failed" ] && echo all passed || { echo 1 failed; exit 1; }
`

func wantCode(r reply, code int) {
	if r.code != code {
		giveUp("exit code %d, want %d, in %q", r.code, code, truncateTrace(r.text))
	}
}

func wantText(got, want string) {
	if got != want {
		giveUp("got %q, want %q", got, want)
	}
}
