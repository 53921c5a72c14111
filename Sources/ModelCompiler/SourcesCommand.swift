import CodeGeneration
import Foundation
import ModelFiles
import RecordGeneration

/// Writes the Swift files that a target gets: the record classes of its models, the accessors of its `@NSManaged`
/// declarations and its name aliases.
enum SourcesCommand {
    static func run(_ arguments: Arguments) throws {
        let module = try arguments.one("--module")
        let folder = URL(fileURLWithPath: try arguments.one("--output"))
        var classes: [String] = []
        for path in arguments.all("--model") {
            let package = try ModelPackage(at: URL(fileURLWithPath: path))
            let version = try package.version(named: package.currentVersionName)
            let model = RecordModel(try package.document(), moduleName: module)
            let name = (path as NSString).lastPathComponent as NSString
            let source = try RecordClassWriter(model: model).source(file: ModelPackage.file(of: version).path) {
                ModelPackage.line(ofEntity: $0.entity, property: $0.property, in: version)
            }
            try write(source, to: folder, "\(module)+\(name.deletingPathExtension)Records.swift")
            classes += model.generatedClasses
        }
        let target = try arguments.target(generatedClasses: classes)
        let accessors = try AccessorGenerator(target: target, compiler: arguments.compiler).source()
        let names = try NameAliases.source(paths: target.paths, isLibrary: arguments.isLibrary)
        try write(accessors, to: folder, "\(module)+Accessors.swift")
        try write(names, to: folder, "\(module)+Names.swift")
    }

    /// Writes a file if it changes, so that an unchanged one is not compiled again.
    private static func write(_ text: String, to folder: URL, _ name: String) throws {
        let file = folder.appendingPathComponent(name)
        guard (try? String(contentsOf: file, encoding: .utf8)) != text else { return }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
}
