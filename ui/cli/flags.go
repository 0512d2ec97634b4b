package cli

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
	"tandem/persist/diag"
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

func (f *launchFlags) add(flags *pflag.FlagSet) {
	flags.SetInterspersed(false) // flags after CMD are CMD's
	flags.StringVar(&f.name, "name", "", "`name` of the process (default: the program's)")
	flags.StringVar(&f.cwd, "cwd", "", "`folder` to start in (default: this one)")
	flags.StringArrayVar(&f.env, "env", nil, "set a variable: `K=V`, or K alone to take it from here")
	flags.StringVar(&f.sandbox, "sandbox", "", "confine it to the sandbox in this JSON `file`")
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
func (a *app) environment(cmd *cobra.Command, f launchFlags) (map[string]string, error) {
	var env map[string]string
	for _, setting := range f.env {
		name, value, given := strings.Cut(setting, "=")
		if !given {
			if value, given = a.lookupEnv(name); !given {
				return nil, output.Usagef(cmd, "read --env %s: must be K=V, because no variable here has this name", output.Visible(setting))
			}
		}
		if name == "" {
			return nil, output.Usagef(cmd, "read --env %s: it has no name", output.Visible(setting))
		}
		if !syntax.ValidName(name) {
			return nil, output.Usagef(cmd, "read --env %s: a name must consist of letters, digits and _, and begin with no digit", output.Visible(setting))
		}
		if env == nil {
			env = make(map[string]string)
		}
		env[name] = value
	}
	return env, nil
}

// confinement reads the --sandbox file; it returns nil without one.
func (f *launchFlags) confinement() (*api.Sandbox, error) {
	if f.sandbox == "" {
		return nil, nil
	}
	text, err := os.ReadFile(f.sandbox)
	if err != nil {
		return nil, fmt.Errorf("read sandbox: %w", err)
	}
	// A misspelled key would leave the program unconfined, so unknown fields are errors.
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var s *api.Sandbox
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("read sandbox %s: %s%w", f.sandbox, linePrefix(text, err), err)
	}
	// Decode stops after the first value, so more text would go unnoticed.
	if _, err := d.Token(); s == nil || !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read sandbox %s: must be one JSON object", f.sandbox)
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

// flagError rephrases an error of pflag for users.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && len(unknown.GetSpecifiedName()) > 1 {
		var flags []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		if suggestion := diag.Nearest(unknown.GetSpecifiedName(), flags); suggestion != "" {
			return output.UsageError(err.Error(), "did you mean --"+suggestion+"?")
		}
	}
	var value *pflag.InvalidValueError
	if !errors.As(err, &value) {
		return output.Usagef(cmd, "%v", err)
	}
	f := value.GetFlag()
	name := "--" + f.Name
	if f.Shorthand != "" {
		name = "-" + f.Shorthand + ", " + name
	}
	want := value.Unwrap().Error()
	switch kind := f.Value.Type(); {
	case errors.Is(value, strconv.ErrRange):
		want = "this number is too large"
	case strings.HasPrefix(kind, "int"):
		want = "must be a whole number"
	case strings.HasPrefix(kind, "float"):
		want = "must be a number"
	case kind == "bool":
		want = "must be true or false"
	}
	return output.Usagef(cmd, "read %s %s: %s", name, output.Visible(value.GetValue()), want)
}

// A duration is a flag value such as 500ms, 1m30s, or 90 for seconds.
type duration time.Duration

func (d *duration) String() string {
	if *d == 0 {
		return ""
	}
	return time.Duration(*d).String()
}

func (d *duration) Type() string { return "duration" }

func (d *duration) Set(s string) error {
	v, err := time.ParseDuration(s)
	// A number without a unit is in seconds.
	if seconds, plain := strconv.ParseFloat(s, 64); plain == nil {
		v, err = time.Duration(seconds*float64(time.Second)), nil
	}
	if err != nil || v < time.Millisecond || v > 1000*24*time.Hour {
		return errors.New("must be a duration of at least 1ms, such as 500ms, 30s or 5m")
	}
	*d = duration(v)
	return nil
}

func (d duration) milliseconds() int { return int(time.Duration(d).Milliseconds()) }

// An age is a flag value in hours, days and so on, such as 12h or 7d.
type age time.Duration

func (a *age) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

func (a *age) Type() string { return "age" }

func (a *age) Set(s string) error {
	const maxDays = 36500
	v, err := time.ParseDuration(s)
	if number, inDays := strings.CutSuffix(s, "d"); inDays {
		var days float64
		if days, err = strconv.ParseFloat(number, 64); err == nil && days <= maxDays {
			v = time.Duration(days * 24 * float64(time.Hour))
		}
	}
	if err != nil || v <= 0 {
		return errors.New("must be a duration such as 30m, 12h or 7d")
	}
	*a = age(v)
	return nil
}

// A byteSize is a flag value read by project.ParseSize: 64MB, 1.5GB, 65536 or none.
type byteSize int64

func (s *byteSize) String() string {
	if *s == 0 {
		return ""
	}
	return strconv.FormatInt(int64(*s), 10)
}

func (s *byteSize) Type() string { return "size" }

func (s *byteSize) Set(text string) error {
	n, ok := project.ParseSize(text)
	if !ok {
		return errors.New("must be a size of at least 64KB, such as 64MB or 1GB, or none for no limit")
	}
	*s = byteSize(n)
	return nil
}

// A restartCount is a flag value: a number of restarts, or unlimited.
type restartCount struct {
	max   int // 0 means unlimited
	given bool
}

func (c *restartCount) String() string {
	switch {
	case !c.given:
		return ""
	case c.max == 0:
		return unlimited
	}
	return strconv.Itoa(c.max)
}

func (c *restartCount) Type() string { return "count" }

const unlimited = "unlimited"

func (c *restartCount) Set(text string) error {
	n, err := strconv.Atoi(text)
	switch {
	case text == unlimited:
		n = 0
	case err == nil && n == 0:
		return errors.New("must be 1 or more, or unlimited; use --restart no to never restart")
	case err != nil || n < 0:
		return errors.New("must be a whole number of 1 or more, or unlimited")
	}
	*c = restartCount{n, true}
	return nil
}
