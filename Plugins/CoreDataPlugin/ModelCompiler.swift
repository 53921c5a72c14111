import Foundation

/// The tool that does the work: `Scripts/model-compiler` compiles it where it is not there yet, and runs it. It is not a dependency of the
/// plugin, since SwiftPM builds those with optimization, and from scratch twice.
struct ModelCompiler {
    /// What runs the script.
    let executable = URL(fileURLWithPath: "/bin/sh")
    /// What the script is told before the tool's own arguments.
    let arguments: [String]
    /// What the tool is made of.
    let files: [URL]

    /// - Parameters:
    ///   - compiler: `swiftc`.
    ///   - workFolder: the plugin's own folder for one target.
    init(compiler: URL, workFolder: URL) {
        let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let script = package.appending(path: "Scripts/model-compiler")
        arguments = [script.path, compiler.path, Self.sharedFolder(of: workFolder).path]
        files = [script] + Self.sources(in: package.appending(path: "Sources"))
    }

    /// One folder for all targets: beside those that SwiftPM makes for each.
    private static func sharedFolder(of workFolder: URL) -> URL {
        var folder = workFolder
        while folder.lastPathComponent != "outputs" {
            guard folder.pathComponents.count > 1 else { return workFolder.appending(path: "CoreDataPlugin.tool") }
            folder.deleteLastPathComponent()
        }
        return folder.appending(path: "CoreDataPlugin.tool")
    }

    private static func sources(in folder: URL) -> [URL] {
        let modules = ["PredicateFormat", "ModelFiles", "CodeGeneration", "ModelCompiler"]
        return modules.flatMap { module in
            let files = FileManager.default.enumerator(
                at: folder.appending(path: module), includingPropertiesForKeys: nil)
            return (files?.compactMap { $0 as? URL } ?? []).filter { $0.pathExtension == "swift" }
        }.sorted { $0.path < $1.path }
    }
}
