import Foundation

/// Does each kind of work at two sizes, and says how much longer an item takes at the larger one.
///
///     pippin-growth [--only PART] [--sizes SMALL,LARGE] [--list]
///
/// Ends with 1 when a kind grew by more than it is allowed to, twice in a row.
@main
enum Growth {
    static func main() async throws {
        var (only, sizes) = ([String](), [2_000, 16_000])
        var arguments = CommandLine.arguments.dropFirst()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--only": only.append((arguments.popFirst() ?? "").lowercased())
            case "--sizes": sizes = (arguments.popFirst() ?? "").split(separator: ",").compactMap { Int($0) }
            case "--list":
                for kind in kinds { print(kind.title) }
                return
            default: return complain("“\(argument)” is not known: --only PART, --sizes SMALL,LARGE, --list")
            }
        }
        guard sizes.count == 2, sizes[0] > 0, sizes[0] < sizes[1] else {
            return complain("--sizes wants two numbers, the smaller one first")
        }
        var grown: [String] = []
        say(row("µs of processor time an item", "\(sizes[0])", "\(sizes[1])", "times"))
        for kind in kinds where only.isEmpty || only.contains(where: kind.title.lowercased().contains) {
            var (small, large) = try await (fastest(kind, sizes[0]), fastest(kind, sizes[1]))
            if kind.grows(small, large) {
                (small, large) = try await (min(small, fastest(kind, sizes[0])), min(large, fastest(kind, sizes[1])))
            }
            let grew = kind.grows(small, large)
            if grew { grown.append(kind.title) }
            say(
                row(
                    kind.title, String(format: "%.2f", small), String(format: "%.2f", large),
                    String(format: "%.2f", large / small) + (grew ? "  grows" : "")))
        }
        guard grown.isEmpty else { exit(1) }
    }

    private static var kinds: [Kind] {
        objectKinds + relationshipKinds + treeKinds + contextKinds + requestKinds + resultsKinds + storeKinds
            + structKinds + graphKinds + blockKinds + observationKinds + modelKinds
    }

    /// The faster of two runs, in microseconds an item.
    private static func fastest(_ kind: Kind, _ size: Int) async throws -> Double {
        var fastest = Double.infinity
        for _ in 0..<2 {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("growth-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let trial = Trial(size: size, folder: folder)
            do { try await kind.work(trial) } catch {
                print("\(kind.title): \(error)")
                exit(2)
            }
            fastest = min(fastest, trial.microsecondsAnItem)
        }
        return fastest
    }

    private static func row(_ title: String, _ columns: String...) -> String {
        title.padding(toLength: 66, withPad: " ", startingAt: 0)
            + columns.map { String(repeating: " ", count: max(1, 9 - $0.count)) + $0 }.joined()
    }

    /// A line at a time, also into a file: a run takes minutes.
    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    private static func complain(_ message: String) {
        FileHandle.standardError.write(Data((message + "\n").utf8))
        exit(64)
    }
}
