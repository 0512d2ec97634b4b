// Package settings implements `tandem config`: showing, writing and checking the configuration.
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

	"tandem/persist/regular"
	"tandem/persist/trust"
	"tandem/ui/cli/doctor"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// NewConfig returns the command config.
func NewConfig(f *factory.Factory) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show, write or check the configuration",
		Long: "Prints where the configuration is and the settings in effect, defaults included.\n" +
			"Changes apply immediately; nothing has to be restarted.",
		Example:     "tandem config\ntandem config init\ntandem config check\n$EDITOR \"$(tandem config path)\"",
		Annotations: factory.Here.Annotations(),
		RunE:        func(*cobra.Command, []string) error { return showConfig(f) },
	}
	cmd.AddCommand(newInit(f), newCheck(f), newPath(f))
	return cmd
}

func newPath(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:     "path",
		Short:   "Print the path of the configuration",
		Example: "$EDITOR \"$(tandem config path)\"",
		RunE: func(*cobra.Command, []string) error {
			path, err := f.Config.Path()
			if err != nil {
				return err
			}
			return f.Out.Answer(map[string]any{"path": path}, func() string { return path + "\n" })
		},
	}
}

// showConfig prints the settings in effect.
func showConfig(f *factory.Factory) error {
	path, text, err := readConfig(f, "")
	exists := !errors.Is(err, fs.ErrNotExist)
	if err != nil && exists {
		return err
	}
	toml, values, err := f.Config.Effective(text)
	if err != nil {
		return withPath(path, err)
	}
	note := ""
	if !exists {
		note = " (does not exist yet; `tandem config init` creates it)"
	}
	answer := map[string]any{"path": path, "exists": exists, "values": values}
	return f.Out.Answer(answer, func() string {
		return f.Out.Painter()(output.Faint, "# "+output.Visible(path)+note) + "\n\n" + toml
	})
}

// readConfig reads a configuration; "" is the user's, "-" standard input.
func readConfig(f *factory.Factory, file string) (path string, text []byte, err error) {
	switch file {
	case "":
		if path, err = f.Config.Path(); err != nil {
			return "", nil, err
		}
		text, err = regular.ReadFile(path)
	case "-":
		text, err = io.ReadAll(f.Stdin)
		return "standard input", text, err
	default:
		path = file
		text, err = os.ReadFile(path) // not only a regular file: it may be <(…) of a shell
	}
	if err != nil {
		return path, nil, fmt.Errorf("read configuration: %w", err)
	}
	return path, text, nil
}

// withPath adds the path to the mistakes in a file; nil stays nil.
func withPath(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", output.Visible(path), err)
}

func newCheck(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "check [FILE]",
		Short: "Show the errors in a configuration",
		Long: "Shows each error in the configuration, and the first in policy.toml beside it, with its line and a\n" +
			"caret. Lists the default keys that yours replace, and checks the agents' sandbox and its folders.\n" +
			"With FILE (- is standard input) it checks that file instead: a sandbox profile if its name ends in\n" +
			".json, else policy.toml or a configuration.\n" +
			"Exits with 1 if there is an error.",
		Example: "tandem config check\ntandem config check new.toml\ntandem config check agents.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return output.Usagef(cmd, "unexpected argument %q", output.Visible(args[1]))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return checkFile(f, args[0])
			}
			return checkConfig(f)
		},
	}
}

// A configFile is config.toml or policy.toml, with its checks.
type configFile struct {
	name     string // name of the check in doctor
	path     string
	absent   string // what applies without the file
	fallback string // what applies while it has a mistake
	check    func(text []byte) error
	warn     func(text []byte) error    // may be nil
	notes    func(text []byte) []string // may be nil
}

// configFiles returns config.toml and, if known, policy.toml.
func configFiles(f *factory.Factory) ([]configFile, error) {
	path, err := f.Config.Path()
	if err != nil {
		return nil, err
	}
	files := []configFile{{"config", path, "the defaults apply", "the previous settings stay in effect", f.Config.Check, nil, f.Config.Notes}}
	if f.Config.CheckPolicy != nil && f.Config.Policy != "" {
		files = append(files, configFile{"policy", f.Config.Policy, "agents may do anything you may",
			"the last good policy applies, or you are asked about everything", f.Config.CheckPolicy, f.Config.WarnPolicy, nil})
	}
	return files, nil
}

// checkConfig checks the configuration and the rules for agents.
func checkConfig(f *factory.Factory) error {
	files, err := configFiles(f)
	if err != nil {
		return err
	}
	var report strings.Builder
	var faults []error
	for _, file := range files {
		faults = append(faults, file.inspect(&report))
	}
	// Sandbox reads the configuration, so it would only repeat the mistakes found there.
	if f.Config.Sandbox != nil && faults[0] == nil {
		path, err := f.Config.Sandbox()
		faults = append(faults, err)
		if path != "" {
			fmt.Fprintf(&report, "%s: no mistakes\n", output.Visible(path))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return f.Out.Answer(map[string]any{"path": files[0].path, "ok": true}, report.String)
}

// inspect returns the mistakes in the file and writes all other findings to report.
func (f configFile) inspect(report *strings.Builder) error {
	text, err := regular.ReadFile(f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		fmt.Fprintf(report, "%s: does not exist; %s\n", output.Visible(f.path), f.absent)
		// Other checks can fail without the file: a missing policy, for example, may have been
		// replaced by its last valid version.
		return withPath(f.path, f.check(nil))
	case err != nil:
		return fmt.Errorf("read configuration: %w", err)
	}
	report.WriteString(f.verdict(text))
	return errors.Join(withPath(f.path, trust.File(f.path)), withPath(f.path, f.check(text)))
}

// checkFile checks one file: a sandbox profile or rules for agents, judged by its name, else a
// configuration.
func checkFile(f *factory.Factory, file string) error {
	if f.Config.CheckProfile != nil && filepath.Ext(file) == ".json" {
		return checkProfile(f, file)
	}
	path, text, err := readConfig(f, file)
	if err != nil {
		return err
	}
	one := configFile{path: path, check: f.Config.Check, notes: f.Config.Notes}
	if f.Config.CheckPolicy != nil && filepath.Base(file) == filepath.Base(f.Config.Policy) {
		one.check, one.warn, one.notes = f.Config.CheckPolicy, f.Config.WarnPolicy, nil
	}
	if err := one.check(text); err != nil {
		return withPath(path, err)
	}
	return f.Out.Answer(map[string]any{"path": path, "ok": true}, func() string { return one.verdict(text) })
}

func checkProfile(f *factory.Factory, file string) error {
	path, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	if err := f.Config.CheckProfile(path); err != nil {
		return err
	}
	return f.Out.Answer(map[string]any{"path": file, "ok": true}, func() string { return output.Visible(file) + ": no mistakes\n" })
}

// verdict returns the lines for a file without definite mistakes.
func (f configFile) verdict(text []byte) string {
	if f.warn != nil && f.warn(text) != nil {
		return fmt.Sprintf("%s: %v\n", output.Visible(f.path), f.warn(text))
	}
	all := output.Visible(f.path) + ": no mistakes\n"
	if f.notes != nil {
		for _, note := range f.notes(text) {
			all += "  " + output.Visible(note) + "\n"
		}
	}
	return all
}

func newInit(f *factory.Factory) *cobra.Command {
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
				return writeProfile(f, force)
			}
			return writeConfig(f, force)
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace an existing file, which is kept with .old after its name")
	cmd.Flags().BoolVar(&sandbox, "sandbox", false, "write a sandbox profile for agents in the current folder")
	return cmd
}

func writeConfig(f *factory.Factory, force bool) error {
	path, err := f.Config.Path()
	if err != nil {
		return err
	}
	if err := createFile(path, []byte(f.Config.Default()), force); err != nil {
		return fmt.Errorf("write configuration: %w", err)
	}
	return f.Out.Answer(map[string]any{"path": path}, func() string { return "wrote " + output.Visible(path) + "\n" })
}

func writeProfile(f *factory.Factory, force bool) error {
	config, err := f.Config.Path()
	if err != nil {
		return err
	}
	dir, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("write sandbox profile: %w", err)
	}
	text, err := f.Config.WorkProfile(dir)
	if err != nil {
		return fmt.Errorf("write sandbox profile: %w", err)
	}
	path := filepath.Join(filepath.Dir(config), "agents.json")
	if err := createFile(path, text, force); err != nil {
		return fmt.Errorf("write sandbox profile: %w", err)
	}
	return f.Out.Answer(map[string]any{"path": path}, func() string {
		return fmt.Sprintf("wrote %s\nSet sandbox = %q under [agents] in %s to use it.\n", output.Visible(path), path, output.Visible(config))
	})
}

// createFile creates a file. With force, an existing one is renamed to path.old first.
func createFile(path string, text []byte, force bool) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if force {
		if err := os.Rename(path, path+".old"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// O_EXCL, so that a file created meanwhile is not overwritten.
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

// Examine checks the configuration and the rules for agents, for the doctor.
func Examine(f *factory.Factory) (findings []doctor.Finding) {
	if f.Config.Path == nil {
		return nil
	}
	files, err := configFiles(f)
	if err != nil {
		return []doctor.Finding{{Check: "config", Status: doctor.Fail, Detail: err.Error(), Fix: "set HOME"}}
	}
	for _, file := range files {
		findings = append(findings, file.examine())
	}
	return findings
}

func (f configFile) examine() doctor.Finding {
	text, err := regular.ReadFile(f.path)
	gone := errors.Is(err, fs.ErrNotExist)
	if err == nil {
		err = trust.File(f.path)
	}
	if err == nil || gone {
		err = f.check(text)
	}
	if gone && err == nil {
		return doctor.Finding{Check: f.name, Status: doctor.OK, Detail: "none; " + f.absent}
	}
	if err != nil {
		return doctor.Finding{Check: f.name, Status: doctor.Fail, Detail: f.path + ": " + Heading(err), Fix: "run `tandem config check` to see it; until then " + f.fallback}
	}
	if f.warn != nil {
		if err := f.warn(text); err != nil {
			return doctor.Finding{Check: f.name, Status: doctor.Warn, Detail: f.path + ": " + Heading(err), Fix: "correct the name, or ignore this if it is right"}
		}
	}
	return doctor.Finding{Check: f.name, Status: doctor.OK, Detail: f.path}
}

// Heading returns the first line of an error.
func Heading(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
