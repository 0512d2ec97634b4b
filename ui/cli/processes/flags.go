package processes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"tandem/engine/api"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
	"tandem/ui/cli/project"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/syntax"
)

// launchFlags are the common flags of exec and start.
type launchFlags struct {
	name, cwd, sandbox string
	env                []string
}

func (opts *launchFlags) add(flags *pflag.FlagSet) {
	flags.SetInterspersed(false) // flags after CMD are CMD's
	flags.StringVar(&opts.name, "name", "", "`name` of the process (default: the program's)")
	flags.StringVar(&opts.cwd, "cwd", "", "`folder` to start in (default: this one)")
	flags.StringArrayVar(&opts.env, "env", nil, "set a variable: `K=V`, or K alone to take it from here")
	flags.StringVar(&opts.sandbox, "sandbox", "", "confine it to the sandbox in this JSON `file`")
}

// sandboxExample is an example of a file for --sandbox. All fields are optional.
const sandboxExample = `  {"filesystem": {"allowWrite": ["/srv/web"], "denyWrite": ["/srv/web/conf"],
                  "denyRead": ["/root/.ssh"]},
   "network": {"allowedDomains": ["*.example.org"], "deniedDomains": ["ads.example.org"]},
   "limits": {"memory_bytes": 2147483648, "processes": 200, "open_files": 1024}}`

// sandboxHelp describes the file.
const sandboxHelp = "A --sandbox file:\n" + sandboxExample + "\n" +
	"Only paths in allowWrite can be written, and all but denyRead can be read; paths are\n" +
	"absolute. Without \"network\" the network is open; with no allowedDomains it is off."

// environment reads the --env flags; it returns nil without any.
func environment(f *factory.Factory, cmd *cobra.Command, opts launchFlags) (map[string]string, error) {
	var env map[string]string
	for _, setting := range opts.env {
		name, value, given := strings.Cut(setting, "=")
		if !given {
			if value, given = f.LookupEnv(name); !given {
				return nil, output.Usagef(cmd, "read --env %s: must be K=V, because no variable here has this name", output.Visible(setting))
			}
		}
		if name == "" {
			return nil, output.Usagef(cmd, "read --env %s: it has no name", output.Visible(setting))
		}
		if !syntax.ValidName(name) {
			return nil, output.Usagef(cmd, "read --env %s: a name must consist of letters, digits and _, and must not begin with a digit", output.Visible(setting))
		}
		if env == nil {
			env = make(map[string]string)
		}
		env[name] = value
	}
	return env, nil
}

// confinement reads the --sandbox file; it returns nil without one.
func (opts *launchFlags) confinement() (*api.Sandbox, error) {
	if opts.sandbox == "" {
		return nil, nil
	}
	text, err := os.ReadFile(opts.sandbox)
	if err != nil {
		return nil, fmt.Errorf("read sandbox: %w", err)
	}
	// A misspelled key would leave the program unconfined, so unknown fields are errors.
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var s *api.Sandbox
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("read sandbox %s: %s%w", opts.sandbox, linePrefix(text, err), err)
	}
	// Decode stops after the first value, so more text would go unnoticed.
	if _, err := d.Token(); s == nil || !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read sandbox %s: must be one JSON object", opts.sandbox)
	}
	return s, nil
}

// linePrefix returns "line N: " for the position of err in a JSON text, or "" if err has none.
func linePrefix(text []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(-1)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	}
	if at < 0 || at > int64(len(text)) {
		return ""
	}
	return fmt.Sprintf("line %d: ", 1+bytes.Count(text[:at], []byte("\n")))
}

// setTo returns a function for pflag's Func. It parses the value of a flag with parse, and stores
// the result in dst.
func setTo[T any](dst *T, parse func(string) (T, error)) func(string) error {
	return func(text string) (err error) {
		*dst, err = parse(text)
		return err
	}
}

// parseAge parses a time in hours, days and so on, such as 12h or 7d.
func parseAge(s string) (time.Duration, error) {
	const maxDays = 36500
	v, err := time.ParseDuration(s)
	if number, inDays := strings.CutSuffix(s, "d"); inDays {
		var days float64
		if days, err = strconv.ParseFloat(number, 64); err == nil && days <= maxDays {
			v = time.Duration(days * 24 * float64(time.Hour))
		}
	}
	if err != nil || v <= 0 {
		return 0, errors.New("must be a duration such as 30m, 12h or 7d")
	}
	return v, nil
}

// parseSize parses a size as project.ParseSize does: 64MB, 1.5GB, 65536 or none.
func parseSize(text string) (int64, error) {
	n, ok := project.ParseSize(text)
	if !ok {
		return 0, errors.New("must be a size of at least 64KB, such as 64MB or 1GB, or none for no limit")
	}
	return n, nil
}

const unlimited = "unlimited"

// parseRestarts parses a number of restarts; 0 means unlimited.
func parseRestarts(text string) (int, error) {
	n, err := strconv.Atoi(text)
	switch {
	case text == unlimited:
		return 0, nil
	case err == nil && n == 0:
		return 0, errors.New("must be 1 or more, or unlimited; use --restart no to never restart")
	case err != nil || n < 0:
		return 0, errors.New("must be a whole number of 1 or more, or unlimited")
	}
	return n, nil
}
