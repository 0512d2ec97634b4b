package engine

import (
	"context"
	"os"
	"path/filepath"

	"tandem/ui/cli/codingagents"
	"tandem/ui/cli/doctor"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
	"tandem/ui/cli/service"
	"tandem/ui/cli/settings"

	"github.com/spf13/cobra"
)

// NewDoctor returns the command doctor.
func NewDoctor(f *factory.Factory) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find problems and say how to fix them",
		Long: "Checks the data folder, the engine, this terminal and what the kernel offers.\n" +
			"It starts no engine. The exit status is 1 if something does not work.",
		Example:     "tandem doctor\ntandem doctor --json",
		Annotations: factory.Here.Annotations(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			findings := doctor.Examine(cmd.Context(), doctorOptions(f))
			if err := f.Out.Answer(findings, func() string { return doctor.Text(f.Out, findings) }); err != nil {
				return err
			}
			for _, finding := range findings {
				if finding.Status == doctor.Fail {
					return &output.ExitError{Status: output.StatusFailed}
				}
			}
			return nil
		},
	}
}

// doctorOptions returns the options of the doctor's checks.
func doctorOptions(f *factory.Factory) doctor.Options {
	return doctor.Options{
		Version: f.Version, Reach: f.Reach, Stdout: f.Stdout, Environ: f.Environ, Env: f.Env, Sandbox: f.Sandbox, Config: func() []doctor.Finding { return settings.Examine(f) }, Lost: f.FindLost, Reboot: func(ctx context.Context) doctor.Finding { return service.Examine(ctx, f) },
		Traces: func() (all []string) {
			if m, err := codingagents.ThisMachine(f.Env); err == nil {
				for _, trace := range m.Traces() {
					all = append(all, trace.Text)
				}
				if _, err := os.Lstat(m.UnitPath()); err == nil {
					all = append(all, "systemd unit "+m.UnitPath())
				}
			}
			if f.Config.Path == nil {
				return all
			}
			if path, err := f.Config.Path(); err == nil {
				if _, err := os.Stat(filepath.Dir(path)); err == nil {
					all = append(all, "configuration folder "+filepath.Dir(path))
				}
			}
			return all
		},
	}
}
