// Package files implements the command files: it opens the dashboard at a folder of this or another
// machine, or prints the folder's entries as a table.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tandem/engine/api"
	"tandem/engine/base/units"
	"tandem/ui/cli/factory"
	"tandem/ui/cli/output"
)

// options are the flags of `tandem files`, and what it works with.
type options struct {
	f                        *factory.Factory
	cd, list, hidden, nested bool
}

// NewFiles returns the command files.
func NewFiles(f *factory.Factory) *cobra.Command {
	o := &options{f: f}
	cmd := &cobra.Command{
		Use:   "files [PATH] [--cd] [--list]",
		Short: "Open the dashboard at the files of a folder, or list them",
		Long: "Opens the dashboard at the files of a folder (default: this one), or with the cursor on a file.\n" +
			"--list and --json print what is in the folder instead. With --host it shows the files of another\n" +
			"machine; the default is then the home folder there.\n" +
			"With --cd it prints the folder that was shown when you left the dashboard, for a shell function\n" +
			"that changes to it:\n\n" +
			"  tcd() { local dir; dir=$(tandem files --cd \"$@\") && cd -- \"$dir\"; }      # bash, zsh\n" +
			"  function tcd; set -l dir (tandem files --cd $argv); and cd -- $dir; end   # fish",
		Example:     "tandem files ~/src\ncd \"$(tandem files --cd)\"\ntandem --host box files /srv\ntandem files --list --host box /srv",
		Args:        factory.AtMost(1),
		Annotations: factory.One.Annotations(),
		RunE:        o.run,
	}
	cmd.Flags().BoolVar(&o.cd, "cd", false, "print the folder that was shown when you left the dashboard")
	cmd.Flags().BoolVarP(&o.list, "list", "l", false, "print what is in the folder, without the dashboard")
	cmd.Flags().BoolVarP(&o.hidden, "all", "a", false, "with --list: include names that begin with a dot")
	cmd.Flags().BoolVar(&o.nested, "nested", false, "open the dashboard even in a session of another data folder")
	return cmd
}

func (o *options) run(cmd *cobra.Command, args []string) error {
	path, err := o.resolvePath(args)
	if err != nil {
		return err
	}
	list := o.list || o.f.Out.JSON
	switch {
	case o.cd && list:
		return output.Usagef(cmd, "give --cd or --list, not both")
	case o.cd && o.f.Host() != "":
		return output.Usagef(cmd, "--cd is for a shell on this machine, which cannot go to a folder of %s", o.f.Host())
	case list:
		return o.printList(cmd.Context(), path)
	}
	folder, name, err := o.splitPath(cmd.Context(), path)
	if err != nil {
		return err
	}
	at := factory.DashboardOptions{Folder: folder, Name: name}
	if o.cd {
		at.OnLeave = func(folder string) { fmt.Fprintln(o.f.Stdout, folder) }
	}
	return o.f.OpenDashboard(cmd.Context(), at, o.nested)
}

// resolvePath returns the absolute path of the file or folder to show. On another machine it may
// begin with ~/ instead.
func (o *options) resolvePath(args []string) (string, error) {
	path := ""
	if len(args) > 0 {
		path = args[0]
	}
	switch {
	case o.f.Host() == "":
	case path == "" || path == "~":
		return "~/", nil
	case strings.HasPrefix(path, "~/"):
		return path, nil
	}
	return o.f.Folder(path)
}

// splitPath splits path into a folder for the files view, and a file in it, if path is not a folder
// itself.
func (o *options) splitPath(ctx context.Context, path string) (folder, name string, err error) {
	if o.f.Host() == "" {
		return splitLocal(path)
	}
	info, err := factory.Call(ctx, o.f, api.FilesStat, api.FilesPathInput{Path: path})
	if err != nil {
		return "", "", err
	}
	if isFolder(info) {
		return api.PathOn(o.f.Host(), info.Path), "", nil
	}
	return api.PathOn(o.f.Host(), filepath.Dir(info.Path)), filepath.Base(info.Path), nil
}

func splitLocal(path string) (folder, name string, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", "", api.Errorf(api.CodeNotFound, "open files: %s does not exist", output.Visible(path))
	case err != nil:
		return "", "", fmt.Errorf("open files: %w", err)
	case info.IsDir():
		return path, "", nil
	}
	return filepath.Dir(path), filepath.Base(path), nil
}

func isFolder(info api.FileInfo) bool { return info.Type == "dir" || info.ToDir }

// printList prints a folder's entries, or a single file.
func (o *options) printList(ctx context.Context, path string) error {
	info, err := factory.Call(ctx, o.f, api.FilesStat, api.FilesPathInput{Path: path})
	if err != nil {
		return err
	}
	entries := []api.FileInfo{info}
	if isFolder(info) {
		out, err := factory.Call(ctx, o.f, api.FilesList, api.FilesListInput{Path: path, Hidden: o.hidden})
		if err != nil {
			return err
		}
		entries = out.Entries
	}
	return output.AnswerList(o.f.Out, entries, "nothing is in "+output.Visible(info.Path), func() string { return o.formatTable(entries) })
}

func (o *options) formatTable(entries []api.FileInfo) string {
	t := o.f.Out.Table("MODE", "SIZE", "MODIFIED", "NAME")
	t.Spare = []string{"MODE", "MODIFIED"}
	for _, e := range entries {
		bytes, name, tint := "-", output.Visible(e.Name), output.Plain
		switch e.Type {
		case "file":
			bytes = units.Bytes(e.Size)
		case "dir":
			name, tint = name+"/", output.Strong
		case "link":
			name += " -> " + output.Visible(e.Target)
		}
		t.Add(output.Text(e.Mode), output.Text(bytes), output.Text(e.Modified.In(time.Local).Format("2006-01-02 15:04")), output.Tinted(name, tint))
	}
	return t.String()
}
