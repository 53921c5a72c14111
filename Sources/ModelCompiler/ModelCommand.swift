import CodeGeneration
import Foundation
import ModelFiles
import RecordGeneration

/// Compiles a model into the `.momd` or `.mom` that the target gets as a resource.
enum ModelCommand {
    static func run(_ arguments: Arguments) throws {
        let source = URL(fileURLWithPath: try arguments.one("--model"))
        let destination = URL(fileURLWithPath: try arguments.one("--output"))
        let target = try arguments.target(generatedClasses: [])
        let document = try ModelPackage(at: source).document()
        let finder = ClassFinder(
            target: target, generatedClasses: RecordModel(document, moduleName: target.moduleName).generatedClasses)
        let remarks = try SourceModelCompiler.compileModel(
            at: source, to: destination, moduleName: target.moduleName
        ) {
            finder.qualifiedName(of: $0)
        }
        for remark in remarks {
            let problem = Problem(
                file: remark.file.path, line: remark.line ?? 1, column: 1, message: remark.message, isWarning: true)
            try? FileHandle.standardError.write(contentsOf: Data("\(problem)\n".utf8))
        }
    }
}
