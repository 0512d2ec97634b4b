// Package settings is `tandem config`: the configuration shown, written and
// checked, whatever it may say.
package settings

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"tandem/persist/trust"
	"tandem/ui/cli/doctor"
	"tandem/ui/cli/output"
)

// Files is how the command line knows the configuration and the person's rules
// for agents.
type Files struct {
	Path    func() (string, error)  // of config.toml
	Default func() string           // a file with every default in comments
	Check   func(text []byte) error // all mistakes, each with its line and a caret
	// Effective is what holds with a file, as TOML and by key; null is a key
	// without a value.
	Effective func(text []byte) (string, map[string]any, error)

	Policy      string                  // path of policy.toml
	CheckPolicy func(text []byte) error // the first mistake, with its line and a caret; of no file, with nil
	DoubtPolicy func(text []byte) error // what may be a mistake; called if CheckPolicy finds none

	// Sandbox returns the path of the agents' sandbox profile, "" for none, and why it cannot be
	// enforced.
	Sandbox func() (path string, err error)
	// CheckProfile returns why the sandbox profile at a path cannot be enforced.
	CheckProfile func(path string) error
	// WorkProfile returns a sandbox profile for agents that work in a folder.
	WorkProfile func(dir string) ([]byte, error)
}

// Verbs are what can be done with them.
type Verbs struct {
	Files
	Out   *output.Printer
	Stdin io.Reader
}

// Command is the verb config.
func (a *Verbs) Command() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show, write or check the configuration",
		Long: "Prints where the configuration is and the settings in effect, defaults included.\n" +
			"Changes apply immediately; nothing has to be restarted.",
		Example: "tandem config\ntandem config init\ntandem config check\n$EDITOR \"$(tandem config path)\"",
		RunE:    func(*cobra.Command, []string) error { return a.showConfig() },
	}
	cmd.AddCommand(configInitCommand(a), configCheckCommand(a), configPathCommand(a))
	return cmd
}

func configPathCommand(a *Verbs) *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "Print the path of the configuration",
		Example: "$EDITOR \"$(tandem config path)\"",
		RunE: func(*cobra.Command, []string) error {
			path, err := a.Path()
			if err != nil {
				return err
			}
			return a.Out.Answer(map[string]any{"path": path}, func() string { return path + "\n" })
		},
	}
}

// showConfig prints what holds now.
func (a *Verbs) showConfig() error {
	path, text, err := a.readConfig("")
	there := !errors.Is(err, fs.ErrNotExist)
	if err != nil && there {
		return err
	}
	toml, values, err := a.Effective(text)
	if err != nil {
		return mistaken(path, err)
	}
	note := ""
	if !there {
		note = " (does not exist yet; `tandem config init` creates it)"
	}
	answer := map[string]any{"path": path, "exists": there, "values": values}
	return a.Out.Answer(answer, func() string {
		return a.Out.Painter()(output.Faint, "# "+output.Visible(path)+note) + "\n\n" + toml
	})
}

// readConfig reads a configuration: that of the person, where file is "".
func (a *Verbs) readConfig(file string) (path string, text []byte, err error) {
	switch file {
	case "":
		if path, err = a.Path(); err != nil {
			return "", nil, err
		}
	case "-":
		text, err = io.ReadAll(a.Stdin)
		return "standard input", text, err
	default:
		path = file
	}
	if text, err = os.ReadFile(path); err != nil {
		return path, nil, fmt.Errorf("read configuration: %w", err)
	}
	return path, text, nil
}

// mistaken is the error of a configuration with mistakes, nil for none.
func mistaken(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", output.Visible(path), err)
}

func configCheckCommand(a *Verbs) *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "Show the mistakes in a configuration",
		Long: "Shows each mistake in the configuration, and the first in policy.toml beside it, with its line and a caret,\n" +
			"and checks the agents' sandbox and its folders. With FILE (- is standard input) it checks that instead:\n" +
			"a sandbox profile if its name ends in .json, else policy.toml or a configuration.\n" +
			"Exits with 1 if there is a mistake.",
		Example: "tandem config check\ntandem config check new.toml\ntandem config check agents.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return output.Usagef(cmd, "unexpected argument %q", output.Visible(args[1]))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return a.checkFile(args[0])
			}
			return a.checkConfig()
		},
	}
}

// A configFile is one of the files that say how things are to be.
type configFile struct {
	name  string // the doctor's word for it
	path  string
	none  string // what holds without it
	until string // what holds while there is a mistake in it
	check func(text []byte) error
	doubt func(text []byte) error // nil for none
}

// configFiles are config.toml and, where it is known, policy.toml.
func (a *Verbs) configFiles() ([]configFile, error) {
	path, err := a.Path()
	if err != nil {
		return nil, err
	}
	files := []configFile{{"config", path, "the defaults apply", "the previous settings stay in effect", a.Check, nil}}
	if a.CheckPolicy != nil && a.Policy != "" {
		files = append(files, configFile{"policy", a.Policy, "agents may do anything you may",
			"the last good policy applies, or you are asked about everything", a.CheckPolicy, a.DoubtPolicy})
	}
	return files, nil
}

// checkConfig looks for mistakes in the configuration and in the person's rules
// for agents.
func (a *Verbs) checkConfig() error {
	files, err := a.configFiles()
	if err != nil {
		return err
	}
	var says strings.Builder
	var wrong []error
	for _, f := range files {
		wrong = append(wrong, f.inspect(&says))
	}
	if a.Sandbox != nil && wrong[0] == nil {
		path, err := a.Sandbox()
		wrong = append(wrong, err)
		if path != "" {
			fmt.Fprintf(&says, "%s: no mistakes\n", output.Visible(path))
		}
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	return a.Out.Answer(map[string]any{"path": files[0].path, "ok": true}, says.String)
}

// inspect returns the mistakes in the file, and writes to says what it finds otherwise.
func (f configFile) inspect(says *strings.Builder) error {
	text, err := os.ReadFile(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(says, "%s: does not exist; %s\n", output.Visible(f.path), f.none)
		return mistaken(f.path, f.check(nil))
	case err != nil:
		return fmt.Errorf("read configuration: %w", err)
	}
	says.WriteString(f.verdict(text))
	return errors.Join(mistaken(f.path, trust.File(f.path)), mistaken(f.path, f.check(text)))
}

// checkFile looks for mistakes in a file: a sandbox profile or rules for agents by its name, else
// a configuration.
func (a *Verbs) checkFile(file string) error {
	if a.CheckProfile != nil && filepath.Ext(file) == ".json" {
		return a.checkProfile(file)
	}
	path, text, err := a.readConfig(file)
	if err != nil {
		return err
	}
	f := configFile{path: path, check: a.Check}
	if a.CheckPolicy != nil && filepath.Base(file) == filepath.Base(a.Policy) {
		f.check, f.doubt = a.CheckPolicy, a.DoubtPolicy
	}
	if err := f.check(text); err != nil {
		return mistaken(path, err)
	}
	return a.Out.Answer(map[string]any{"path": path, "ok": true}, func() string { return f.verdict(text) })
}

func (a *Verbs) checkProfile(file string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if err := a.CheckProfile(path); err != nil {
		return err
	}
	return a.Out.Answer(map[string]any{"path": file, "ok": true}, func() string { return output.Visible(file) + ": no mistakes\n" })
}

// verdict is the line for a file without mistakes, or what may be one.
func (f configFile) verdict(text []byte) string {
	if f.doubt != nil && f.doubt(text) != nil {
		return fmt.Sprintf("%s: %v\n", output.Visible(f.path), f.doubt(text))
	}
	return output.Visible(f.path) + ": no mistakes\n"
}

func configInitCommand(a *Verbs) *cobra.Command {
	var force, sandbox bool
	cmd := &cobra.Command{
		Use:     "init",
		Aliases: []string{"write"},
		Short:   "Write a configuration with every default in comments",
		Long: "Writes a configuration with every key and its default as a comment.\nAn existing file is kept unless --force is given.\n\n" +
			"With --sandbox it writes a sandbox profile, agents.json beside the configuration, with which agents\n" +
			"can work in the current folder and use the caches of Go, npm and pip.",
		Example: "tandem config init\ntandem config init --sandbox",
		RunE: func(*cobra.Command, []string) error {
			if sandbox {
				return a.writeProfile(force)
			}
			return a.writeConfig(force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file, which is kept with .old after its name")
	cmd.Flags().BoolVar(&sandbox, "sandbox", false, "write a sandbox profile for agents in the current folder")
	return cmd
}

func (a *Verbs) writeConfig(force bool) error {
	path, err := a.Path()
	if err != nil {
		return err
	}
	if err := create(path, []byte(a.Default()), force); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return a.Out.Answer(map[string]any{"path": path}, func() string { return "wrote " + output.Visible(path) + "\n" })
}

func (a *Verbs) writeProfile(force bool) error {
	config, err := a.Path()
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("write sandbox profile: %w", err)
	}
	text, err := a.WorkProfile(dir)
	if err != nil {
		return fmt.Errorf("write sandbox profile: %w", err)
	}
	path := filepath.Join(filepath.Dir(config), "agents.json")
	if err := create(path, text, force); err != nil {
		return fmt.Errorf("write sandbox profile: %w", err)
	}
	return a.Out.Answer(map[string]any{"path": path}, func() string {
		return fmt.Sprintf("wrote %s\nSet sandbox = %q under [agents] in %s to use it.\n", output.Visible(path), path, output.Visible(config))
	})
}

// create writes a new file. With force, it first renames an existing one to path.old.
func create(path string, text []byte, force bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if force {
		if err := os.Rename(path, path+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists; --force replaces it", output.Visible(path))
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// Examine looks for mistakes in the configuration and in the person's
// rules for agents.
func (a *Verbs) Examine() (findings []doctor.Finding) {
	if a.Files.Path == nil {
		return nil
	}
	files, err := a.configFiles()
	if err != nil {
		return []doctor.Finding{{Check: "config", Status: doctor.Fail, Detail: err.Error(), Fix: "set HOME"}}
	}
	for _, f := range files {
		findings = append(findings, f.examine())
	}
	return findings
}

func (f configFile) examine() doctor.Finding {
	text, err := os.ReadFile(f.path)
	gone := errors.Is(err, fs.ErrNotExist)
	if err == nil {
		err = trust.File(f.path)
	}
	if err == nil || gone {
		err = f.check(text)
	}
	if gone && err == nil {
		return doctor.Finding{Check: f.name, Status: doctor.OK, Detail: "none; " + f.none}
	}
	if err != nil {
		return doctor.Finding{Check: f.name, Status: doctor.Fail, Detail: f.path + ": " + Heading(err), Fix: "run `tandem config check` to see it; until then " + f.until}
	}
	if f.doubt != nil {
		if err := f.doubt(text); err != nil {
			return doctor.Finding{Check: f.name, Status: doctor.Warn, Detail: f.path + ": " + Heading(err), Fix: "correct the name, or ignore this if it is right"}
		}
	}
	return doctor.Finding{Check: f.name, Status: doctor.OK, Detail: f.path}
}

// Heading is the first line of an error.
func Heading(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
