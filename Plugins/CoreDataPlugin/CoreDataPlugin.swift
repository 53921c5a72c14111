import Foundation
import PackagePlugin

/// Does for a target what Xcode does for an app that has Core Data: compiles its models and mapping models into resources, generates the
/// classes of their objects, and supplies the accessors of `@NSManaged` declarations.
///
///     .target(
///         name: "Library",
///         dependencies: [.product(name: "CoreData", package: "Pippin")],
///         plugins: [.plugin(name: "CoreDataPlugin", package: "Pippin")])
///
/// Models lie among the sources; they need not be declared as resources.
@main
struct CoreDataPlugin: BuildToolPlugin {
    private let folders: any FolderFinder = PathFolderFinder()

    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        #if os(macOS)
            // Apple's tools do all of it.
            return []
        #else
            guard let module = target as? SwiftSourceModuleTarget else {
                Diagnostics.error("CoreDataPlugin is for Swift targets, and “\(target.name)” is none")
                return []
            }
            let tool = ModelCompiler(
                compiler: try context.tool(named: "swiftc").url, workFolder: context.pluginWorkDirectoryURL)
            let sources = module.sourceFiles(withSuffix: ".swift").map(\.url)
            let folder = URL(fileURLWithPath: folders.folder(of: module))
            let models = Self.packages(["xcdatamodeld", "xcdatamodel"], of: module, in: folder)
            let mappings = Self.packages(["xcmappingmodel"], of: module, in: folder)
            guard Self.haveNamesOfTheirOwn(models) && Self.haveNamesOfTheirOwn(mappings) else { return [] }
            let common = try arguments(for: module, context, sources)
            let output = context.pluginWorkDirectoryURL

            var commands = models.map { model in
                let compiled = output.appending(path: Self.compiledName(of: model))
                return Command.buildCommand(
                    displayName: "Compiling model \(model.lastPathComponent)", executable: tool.executable,
                    arguments: tool.arguments + ["model", "--output", compiled.path, "--model", model.path] + common,
                    inputFiles: Self.files(in: model) + sources + tool.files, outputFiles: [compiled])
            }
            commands += mappings.map { mapping in
                let cdm = output.appending(path: mapping.deletingPathExtension().lastPathComponent + ".cdm")
                return Command.buildCommand(
                    displayName: "Compiling mapping model \(mapping.lastPathComponent)", executable: tool.executable,
                    arguments: tool.arguments + ["mapping", "--output", cdm.path, "--mapping", mapping.path],
                    inputFiles: (models + [mapping]).flatMap(Self.files) + tool.files, outputFiles: [cdm])
            }
            // The names are known before the contents of the sources are, so the files are there even if there is
            // nothing to say in them.
            let records = models.map { $0.deletingPathExtension().lastPathComponent + "Records" }
            let files = (records + ["Accessors", "Names"]).map {
                output.appending(path: "\(module.moduleName)+\($0).swift")
            }
            commands.append(
                .buildCommand(
                    displayName: "Generating Core Data code for \(target.name)", executable: tool.executable,
                    arguments: tool.arguments + ["sources", "--output", output.path]
                        + models.flatMap { ["--model", $0.path] } + common,
                    inputFiles: models.flatMap(Self.files) + sources + tool.files, outputFiles: files))
            return commands
        #endif
    }

    private func arguments(
        for module: SwiftSourceModuleTarget, _ context: PluginContext, _ sources: [URL]
    ) throws -> [String] {
        var arguments = ["--module", module.moduleName]
        arguments += ["--compiler", try context.tool(named: "swiftc").url.path]
        if module.kind == .generic { arguments.append("--library") }
        arguments += module.compilationConditions.flatMap { ["--define", $0] }
        for case let dependency as SwiftSourceModuleTarget in module.recursiveTargetDependencies {
            arguments += ["--dependency", "\(dependency.moduleName)=\(folders.folder(of: dependency))"]
        }
        return arguments + sources.flatMap { ["--source", $0.path] }
    }

    /// A model with versions becomes a `.momd`, one without a `.mom`, as with Xcode: code asks the bundle for these.
    private static func compiledName(of model: URL) -> String {
        let fileExtension = model.pathExtension == "xcdatamodeld" ? "momd" : "mom"
        return "\(model.deletingPathExtension().lastPathComponent).\(fileExtension)"
    }

    /// The models in the target's folder, versioned (`.xcdatamodeld`) or not (`.xcdatamodel`), or the mapping models.
    ///
    /// The target says which files are its own: in its folder there may be others that it excludes, other targets, and
    /// the packages that it depends on.
    private static func packages(_ extensions: [String], of module: SwiftSourceModuleTarget, in folder: URL) -> [URL] {
        let depth = folder.pathComponents.count
        let packages = module.sourceFiles.compactMap { file -> URL? in
            let names = file.url.pathComponents
            guard
                let place = names.indices.dropFirst(depth).first(where: { place in
                    extensions.contains((names[place] as NSString).pathExtension)
                })
            else { return nil }
            // A file in a model, where the tools do not take the model as a whole, is as good as the model.
            return names[(place + 1)...].reduce(file.url) { url, _ in url.deletingLastPathComponent() }
        }
        // macOS leaves a hidden “._Name” with a file's attributes on disks that have none.
        return Set(packages).filter { !$0.lastPathComponent.hasPrefix(".") }.sorted { $0.path < $1.path }
    }

    /// Whether no two models would be compiled into files of one name; an error names those that would.
    private static func haveNamesOfTheirOwn(_ models: [URL]) -> Bool {
        let groups = Dictionary(grouping: models) { $0.deletingPathExtension().lastPathComponent }
        for models in groups.values where models.count > 1 {
            let paths = models.map { "“\($0.path)”" }.joined(separator: " and ")
            Diagnostics.error("\(paths) would be compiled into one file: models of a target need names of their own")
        }
        return groups.count == models.count
    }

    /// A model and all files in it: named as inputs, they are neither missed when they change nor warned about as
    /// unhandled. A model may be a symbolic link to another target's.
    private static func files(in model: URL) -> [URL] {
        let contents = FileManager.default.enumerator(
            at: model.resolvingSymlinksInPath(), includingPropertiesForKeys: [.isDirectoryKey])
        var files = [model]
        while let url = contents?.nextObject() as? URL {
            let isFolder = (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory ?? false
            if !isFolder { files.append(url) }
        }
        return files.sorted { $0.path < $1.path }
    }
}

/// Finds the folder of a target. `directoryURL` came with the tools of Swift 6.1, and `directory` is deprecated since:
/// the protocol is there for a call without a warning.
private protocol FolderFinder: Sendable {
    func folder(of target: any Target) -> String
}

private struct PathFolderFinder: FolderFinder {
    @available(*, deprecated)
    func folder(of target: any Target) -> String { target.directory.string }
}
