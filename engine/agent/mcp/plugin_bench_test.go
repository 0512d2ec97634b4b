package mcp

import (
	"testing"

	"tandem/engine/agent/mcp/toolkit"
)

func BenchmarkExecTrue(b *testing.B) {
	r := newRig(b, toolkit.Plugin)
	for b.Loop() {
		if answer := r.call("exec", object{"command": "true"}); answer.Failed {
			b.Fatal(resultText(answer))
		}
	}
}

func BenchmarkExec10MB(b *testing.B) {
	r := newRig(b, toolkit.Plugin)
	r.createFile("big", numberedLines(1, 100_000, "%099d"))
	b.SetBytes(10_000_000)
	for b.Loop() {
		answer := r.call("exec", object{"command": "cat big", "max_output": 16 << 20})
		if n := len(resultText(answer)); n != 10_000_000+len("Exit code: 0") {
			b.Fatal(n)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	r := newRig(b, toolkit.Plugin)
	r.createFile("f", numberedLines(1, 1000, "line %d"))
	for b.Loop() {
		if answer := r.call("read", object{"path": "f"}); answer.Failed {
			b.Fatal(resultText(answer))
		}
	}
}
