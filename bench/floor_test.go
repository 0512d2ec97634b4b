package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// asBaseline in the environment makes the test binary the baseline: a minimal server of the official
// SDK that runs a command.
const asBaseline = "TANDEM_BENCH_FLOOR"

func serveBaseline(ctx context.Context) error {
	type input struct {
		Command string `json:"command"`
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "floor", Version: "1"}, nil)
	sdk.AddTool(s, &sdk.Tool{Name: "exec"}, func(ctx context.Context, _ *sdk.CallToolRequest, in input) (*sdk.CallToolResult, any, error) {
		out, err := exec.CommandContext(ctx, "bash", "-c", in.Command).CombinedOutput()
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(out)}}}, nil, err
	})
	return s.Run(ctx, &sdk.StdioTransport{})
}

func baselineCommand() *exec.Cmd {
	floor := exec.Command("/proc/self/exe")
	floor.Env = append(os.Environ(), asBaseline+"=1")
	return floor
}

// batch makes n calls at the same time, and waits for their answers.
func (a *agent) batch(n int, args string) time.Duration {
	a.b.Helper()
	began := time.Now()
	for range n {
		a.n++
		fmt.Fprintf(a.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"exec","arguments":%s}}`+"\n", a.n, args)
	}
	for n > 0 {
		line, err := a.out.ReadBytes('\n')
		if err != nil {
			a.b.Fatal(err)
		}
		if bytes.Contains(line, []byte(`"isError":true`)) {
			a.b.Fatalf("the answer is %s", line)
		}
		if bytes.Contains(line, []byte(`"result":`)) {
			n--
		}
	}
	return time.Since(began)
}

// BenchmarkAgentFloor runs `true` through a server and through the baseline in turns, one and
// eight at a time.
func BenchmarkAgentFloor(b *testing.B) {
	p := build(b)
	agents := []*agent{serveWith(b, baselineCommand()), serveWith(b, p.command("--serve"))}
	const command, atOnce = `{"command":"true"}`, 8
	var one, many [2][]time.Duration
	for i, a := range agents {
		a.initialize()
		a.batch(atOnce, command)
		one[i], many[i] = nil, nil
	}
	for range max(b.N, 200) {
		for i, a := range agents {
			one[i] = append(one[i], a.batch(1, command))
		}
	}
	for range max(b.N, 50) {
		for i, a := range agents {
			many[i] = append(many[i], a.batch(atOnce, command))
		}
	}
	for _, a := range agents {
		a.end()
	}
	b.ReportMetric(median(one[0]), "ms-floor")
	b.ReportMetric(median(one[1]), "ms-tandem")
	b.ReportMetric(median(one[1])/median(one[0]), "tandem/floor")
	b.ReportMetric(median(many[0])/median(many[1]), "rate-of-8/floor")
}
