//go:build ignore

// Command generate makes the Go code of the .proto files: make generate. Its
// tools are pinned in .proto.mod at the top of the repository.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/pluginpb"
)

// The folders are those of the package sdk, where go generate runs this.
const (
	source  = "proto"
	modfile = "../.proto.mod"
)

func main() {
	for _, file := range []string{"plugin/v1/plugin.proto", "host/v1/host.proto"} {
		if err := generate(context.Background(), file); err != nil {
			log.Fatalf("%s: %v", file, err)
		}
	}
}

// generate compiles one file and hands it to both generators.
func generate(ctx context.Context, file string) error {
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{source}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, file)
	if err != nil {
		return err
	}
	request := &pluginpb.CodeGeneratorRequest{FileToGenerate: []string{file}, Parameter: proto.String("paths=source_relative")}
	for _, f := range files {
		request.ProtoFile = append(request.ProtoFile, protoutil.ProtoFromFileDescriptor(f))
	}
	for _, tool := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		if err := run(ctx, tool, request); err != nil {
			return fmt.Errorf("%s: %w", tool, err)
		}
	}
	return nil
}

// run runs a generator as protoc would, and writes what it makes.
func run(ctx context.Context, tool string, request *pluginpb.CodeGeneratorRequest) error {
	in, err := proto.Marshal(request)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "-modfile="+modfile, tool)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	var answer pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &answer); err != nil {
		return err
	}
	if answer.Error != nil {
		return errors.New(answer.GetError())
	}
	for _, f := range answer.File {
		if err := os.WriteFile(filepath.Join(source, f.GetName()), []byte(f.GetContent()), 0o644); err != nil {
			return err
		}
	}
	return nil
}
