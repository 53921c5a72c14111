import Foundation
import Testing

@Suite("The plugin's tool")
struct PluginToolTests {
    /// The words of a list in a file, such as that of the script's modules.
    private func words(of pattern: String, in path: String) throws -> Set<String> {
        let text = try String(contentsOf: House.root.appendingPathComponent(path), encoding: .utf8)
        let list = try #require(try Regex(pattern).dotMatchesNewlines().firstMatch(in: text)?.output[1].substring)
        return Set(list.matches(of: try Regex(#"\w+"#)).map { String(list[$0.range]) })
    }

    @Test("is compiled of what its target stands on, by the script and for the plugin")
    func modules() throws {
        let targets = try House.targets()
        var needed: Set<String> = []
        var waiting = ["ModelCompiler"]
        while let name = waiting.popLast() {
            if needed.insert(name).inserted { waiting += targets[name] ?? [] }
        }
        let script = try words(of: #"libraries="([^"]*)""#, in: "Scripts/model-compiler")
        #expect(script.union(["ModelCompiler"]) == needed)
        let plugin = try words(of: #"let modules = \[([^\]]*)\]"#, in: "Plugins/CoreDataPlugin/ModelCompiler.swift")
        #expect(plugin == needed)
    }

    @Test("is not a dependency of the plugin, which would have it optimized")
    func dependency() throws {
        let manifest = try String(contentsOf: House.root.appendingPathComponent("Package.swift"), encoding: .utf8)
        #expect(manifest.contains(#".plugin(name: "CoreDataPlugin", capability: .buildTool())"#))
    }
}
