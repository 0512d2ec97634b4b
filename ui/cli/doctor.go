package cli

import (
	"os"
	"path/filepath"

	"tandem/ui/cli/doctor"
	"tandem/ui/cli/output"

	"github.com/spf13/cobra"
)

func doctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find problems and say how to fix them",
		Long: "Checks the data folder, the engine, this terminal and what the kernel offers.\n" +
			"It starts no engine. The exit status is 1 if something does not work.",
		Example: "tandem doctor\ntandem doctor --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := doctor.Examine(cmd.Context(), a.doctor())
			if err := a.out.Answer(findings, func() string { return doctor.Text(a.out, findings) }); err != nil {
				return err
			}
			for _, f := range findings {
				if f.Status == doctor.Fail {
					return &output.ExitError{Status: output.StatusFailed}
				}
			}
			return nil
		},
	}
}

// doctor returns the options of the doctor's checks.
func (a *app) doctor() doctor.Options {
	config := a.config()
	return doctor.Options{
		Version: a.Version, Reach: a.Reach, Stdout: a.Stdout, Environ: a.Environ, Env: a.env, Sandbox: a.Sandbox, Config: config.Examine, Lost: a.FindLost,
		Traces: func() (all []string) {
			if m, err := a.setupMachine(); err == nil {
				all = m.Traces()
			}
			if config.Files.Path == nil {
				return all
			}
			if path, err := config.Path(); err == nil {
				if _, err := os.Stat(filepath.Dir(path)); err == nil {
					all = append(all, "configuration folder "+filepath.Dir(path))
				}
			}
			return all
		},
	}
}
