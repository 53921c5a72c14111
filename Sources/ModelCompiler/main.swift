import CodeGeneration
import Foundation

// The tool behind CoreDataPlugin. What goes wrong it prints as the compiler does, with file and line.
do {
    let arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
    switch arguments.command {
    case "model": try ModelCommand.run(arguments)
    case "mapping": try MappingCommand.run(arguments)
    case "sources": try SourcesCommand.run(arguments)
    default: throw UsageError("unknown command “\(arguments.command)”; expected model, mapping or sources")
    }
} catch let error as NSError where error.domain == NSCocoaErrorDomain {
    // An error of a model file: it says where.
    let file = error.userInfo[NSFilePathErrorKey] as? String ?? "ModelCompiler"
    var message = error.localizedDescription
    if message.hasPrefix("“\(file)”, ") { message.removeFirst("“\(file)”, ".count) }
    let problem = Problem(file: file, line: error.userInfo["line"] as? Int ?? 1, column: 1, message: message)
    try? FileHandle.standardError.write(contentsOf: Data("\(problem)\n".utf8))
    exit(1)
} catch {
    try? FileHandle.standardError.write(contentsOf: Data("\(error)\n".utf8))
    exit(1)
}
