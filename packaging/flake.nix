# Nix flake for Linux, written by packaging/release.sh: nix run FOLDER
{
  description = "Terminal and process manager that keeps everything running";
  inputs.nixpkgs.url = "nixpkgs";
  outputs = { self, nixpkgs }:
    let
      version = "@VERSION@";
      package = system: arch: sha256:
        let pkgs = nixpkgs.legacyPackages.${system}; in
        pkgs.stdenvNoCC.mkDerivation {
          pname = "tandem";
          inherit version;
          src = pkgs.fetchurl {
            url = "@RELEASES@/v${version}/tandem_${version}_linux_${arch}.tar.gz";
            inherit sha256;
          };
          nativeBuildInputs = [ pkgs.installShellFiles ];
          installPhase = ''
            install -Dm755 tandem $out/bin/tandem
            install -Dm644 LICENSE THIRD-PARTY.txt -t $out/share/doc/tandem
            installManPage man/*.1
            installShellCompletion --bash --name tandem completions/tandem
            installShellCompletion --zsh completions/_tandem --fish completions/tandem.fish
          '';
          meta = {
            homepage = "@SOURCE@";
            license = pkgs.lib.licenses.mit;
            mainProgram = "tandem";
            platforms = [ "x86_64-linux" "aarch64-linux" ];
          };
        };
    in
    {
      packages.x86_64-linux.default = package "x86_64-linux" "amd64" "@AMD64@";
      packages.aarch64-linux.default = package "aarch64-linux" "arm64" "@ARM64@";
    };
}
