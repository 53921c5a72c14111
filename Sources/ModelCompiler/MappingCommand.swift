import Foundation
import ModelFiles

/// Compiles a mapping model into the `.cdm` that the target gets as a resource. Its two versions of the model are found
/// by the paths that it has for them.
enum MappingCommand {
    static func run(_ arguments: Arguments) throws {
        let source = URL(fileURLWithPath: try arguments.one("--mapping"))
        let destination = URL(fileURLWithPath: try arguments.one("--output"))
        try MappingCompiler.compiledData(ofSource: source).write(to: destination, options: .atomic)
    }
}
