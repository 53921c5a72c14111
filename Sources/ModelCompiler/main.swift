import Foundation

// The tool behind CoreDataPlugin. What goes wrong it prints as the compiler does, with file and line.
do {
    let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
    switch arguments.command {

    case "sources": try SourcesCommand.run(arguments)
    default: throw UsageError("unknown command “\(arguments.command)”; expected model or sources")
    }
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(1)
}
