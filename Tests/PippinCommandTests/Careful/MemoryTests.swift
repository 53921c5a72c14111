import CoreData
import Foundation
import TestSupport
import Testing

@testable import PippinCommand

/// A run of the program in a process of its own, with the memory that it took.
private struct MeasuredRun {
    let status: Int32
    let errors: String
    let output: URL
    /// The most memory at once, in megabytes.
    let peak: Int

    init(_ arguments: [String], in folder: URL, _ environment: [String] = []) throws {
        let program = Bundle.main.bundleURL.appendingPathComponent("pippin").path
        output = folder.appendingPathComponent("output")
        let errorFile = folder.appendingPathComponent("errors").path
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let flags = O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, 1, output.path, flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errorFile, flags, 0o600)
        func copied(_ texts: [String]) -> [UnsafeMutablePointer<CChar>?] {
            var copies: [UnsafeMutablePointer<CChar>?] = texts.map { text in strdup(text) }
            copies.append(nil)
            return copies
        }
        let words = copied([program] + arguments)
        let variables = copied(["TMPDIR=\(folder.path)", "PATH=/usr/bin:/bin"] + environment)
        defer { for word in words + variables { free(word) } }
        var child = pid_t()
        try #require(posix_spawn(&child, program, &actions, nil, words, variables) == 0)
        // The system's count of a child begins with what its parent had; that of the program is in /proc, until it
        // ends.
        var (state, most) = (Int32(), 0)
        while true {
            let ended = waitpid(child, &state, WNOHANG)
            if ended == child { break }
            try #require(ended == 0)
            most = max(most, Self.peak(of: child) ?? 0)
            usleep(1000)
        }
        status = state & 0x7F == 0 ? state >> 8 & 0xFF : 128 + state & 0x7F
        errors = try String(contentsOfFile: errorFile, encoding: .utf8)
        peak = most / 1000
    }

    /// The most memory that a program has had so far, in kilobytes.
    private static func peak(of process: pid_t) -> Int? {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }
    }

    func contains(_ text: String) throws -> Bool {
        try Data(contentsOf: output, options: .mappedIfSafe).range(of: Data(text.utf8)) != nil
    }
}

@Suite("Stores that are made to fill the memory", .serialized, .ownThread)
struct MemoryTests {
    /// The most megabytes that a command takes.
    private static let most = 300

    enum Bomb: String, CaseIterable {
        case longText, hugeBlob, controlCharacters, generatedColumn, nestedJSON, longJSON, manyLargeRows, wideRow
        case manyMetadata

        fileprivate var sql: String {
            switch self {
            case .longText: "UPDATE ZBOOK SET ZTITLE = printf('%.*c', 200000000, 'x') WHERE Z_PK = 2"
            case .hugeBlob: "UPDATE ZBOOK SET ZCOVER = zeroblob(400000000) WHERE Z_PK = 2"
            case .controlCharacters:
                "UPDATE ZBOOK SET ZTITLE = replace(printf('%.*c', 30000000, 'x'), 'x', char(1)) WHERE Z_PK = 2"
            case .generatedColumn:
                """
                ALTER TABLE ZBOOK RENAME COLUMN ZTITLE TO ZFORMER;
                ALTER TABLE ZBOOK ADD COLUMN ZTITLE VARCHAR GENERATED ALWAYS AS (hex(zeroblob(Z_PK * 150000000)))
                """
            case .nestedJSON: "UPDATE ZBOOK SET ZCOVER = CAST(printf('%.*c', 30000000, '[') AS BLOB) || ']'"
            case .longJSON:
                "UPDATE ZBOOK SET ZCOVER = CAST('[' || replace(printf('%.*c', 15000000, 'x'), 'x', '1,') || '1]' AS BLOB)"
            case .manyLargeRows:
                """
                WITH RECURSIVE numbers(n) AS (SELECT 4 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1500)
                INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE) SELECT n,
                (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'), 1, printf('%.*c', iif(n < 1300, 1, 1500000), 'x')
                FROM numbers; UPDATE Z_PRIMARYKEY SET Z_MAX = 1500 WHERE Z_NAME = 'Book'
                """
            // A property list with an array of 3.5 million references to one number.
            case .manyMetadata:
                """
                UPDATE Z_METADATA SET Z_PLIST = CAST(X'62706C6973743030D101025178AF12003567E0' ||
                replace(printf('%.*c', 3500000, 'x'), 'x', char(3)) || X'1001000000080000000B0000000D003567F3' ||
                X'00000000000004010000000000000004000000000000000000000000003567F5' AS BLOB)
                """
            case .wideRow:
                "UPDATE ZBOOK SET ZCOVER = zeroblob(60000000), ZTITLE = printf('%.*c', 60000000, 'x'), "
                    + "ZSPINE = zeroblob(60000000)"
            }
        }

        /// What `dump --json`, or its errors, say of the value.
        fileprivate var remark: String? {
            switch self {
            case .longText: "the value has 200000000 bytes, and is not read"
            case .hugeBlob: "MB"
            case .generatedColumn: "the store has no column ZBOOK.ZTITLE"
            case .wideRow: "the value has 60000000 bytes, and is not read"
            case .manyMetadata: "Z_METADATA.Z_PLIST has 3500069 bytes, of which 1500000 may be read"
            case .controlCharacters, .nestedJSON, .longJSON, .manyLargeRows: nil
            }
        }
    }

    @Test("No command takes more than 300 MB, and what is too large is named", arguments: Bomb.allCases)
    func bomb(_ bomb: Bomb) throws {
        let store = try SmallStore { model in
            for name in ["cover", "spine"] {
                let attribute = NSAttributeDescription()
                (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .binaryDataAttributeType, true)
                model.entitiesByName["Book"]?.properties.append(attribute)
            }
        }
        try execute(bomb.sql, in: store.folder.store)
        let folder = store.folder.file("work")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        for arguments in [
            ["dump", store.path, "--json"], ["dump", store.path], ["info", store.path], ["check", store.path],
            ["report", store.path, "-o", folder.appendingPathComponent("r.html").path],
            ["query", store.path, "Book", "--format", "jsonl", "--in-place"],
            ["query", store.path, "Book order by title", "--in-place"],
            ["export", store.path, "Book", "--format", "csv", "--in-place"],
        ] {
            let run = try MeasuredRun(arguments, in: folder)
            #expect(run.peak < Self.most, "\(bomb) \(arguments[0]): \(run.peak) MB")
            #expect(run.status <= 3, "\(bomb) \(arguments[0]): \(run.status) \(run.errors)")
            if arguments.contains("--json"), let remark = bomb.remark {
                try #expect(run.contains(remark) || run.errors.contains(remark), "\(bomb): \(run.errors.prefix(500))")
            }
        }
    }

    @Test("An XML store that would take more is refused, with what to do, unless the environment allows it")
    func document() throws {
        let folder = try TestFolder()
        let store = folder.file("large.xml")
        let head = """
            <?xml version="1.0"?>
            <database><databaseInfo><version>134481920</version><UUID>3C2A5B5E-6D7B-4B39-9A0E-3F4F1C2D5E6F</UUID>
            <nextObjectID>90000</nextObjectID><metadata><plist version="1.0"><dict></dict></plist></metadata></databaseInfo>
            """
        let text = String(repeating: "x", count: 2_000)
        let objects = (1...10_200).map {
            "<object type=\"BOOK\" id=\"z\($0)\"><attribute name=\"title\" type=\"string\">\(text)\($0)</attribute></object>"
        }
        try Data((head + objects.joined(separator: "\n") + "</database>").utf8).write(to: store)
        for command in [["info"], ["dump"], ["check"], ["query", "BOOK"]] {
            let run = try MeasuredRun([command[0], store.path] + command.dropFirst(), in: folder.url)
            #expect(run.status == 1 && run.peak < 150, "\(command[0]): \(run.status), \(run.peak) MB")
            #expect(run.errors.contains("20000000 bytes may be read"), "\(run.errors)")
            #expect(run.errors.contains("pippin copy"), "\(run.errors)")
        }
        let allowed = try MeasuredRun(
            ["query", store.path, "BOOK where title endswith 'x10200'"], in: folder.url,
            ["PIPPIN_DOCUMENT_LIMIT=30000000"])
        #expect(try allowed.status == 0 && allowed.contains("10200"), "\(allowed.errors)")
    }

    @Test("Long values are written whole, piece by piece, and imported again byte by byte")
    func pieces() throws {
        func make() throws -> SmallStore {
            try SmallStore { model in
                let cover = NSAttributeDescription()
                (cover.name, cover.attributeType, cover.isOptional) = ("cover", .binaryDataAttributeType, true)
                model.entitiesByName["Book"]?.properties.append(cover)
            }
        }
        let (source, target) = (try make(), try make())
        try execute(
            """
            UPDATE ZBOOK SET ZTITLE = replace(printf('%.*c', 100001, 'x'), 'x', 'aé€😀"' || char(10)),
            ZCOVER = CAST(replace(printf('%.*c', 100001, 'x'), 'x', char(300)) AS BLOB), ZAUTHOR = NULL WHERE Z_PK = 1;
            UPDATE ZBOOK SET ZTITLE = '=' || ZTITLE,
            ZCOVER = CAST('[' || replace(printf('%.*c', 200000, 'x'), 'x', '1,' || char(10)) || '2]' AS BLOB) WHERE Z_PK = 2;
            UPDATE ZBOOK SET ZAUTHOR = NULL; DELETE FROM ZBOOK WHERE Z_PK = 3
            """, in: source.folder.store)
        let sums = "SELECT length(ZTITLE), ZTITLE, length(ZCOVER), hex(ZCOVER) FROM ZBOOK ORDER BY ZPAGES"
        let all = try plainSQL(sums, in: source.folder.store)
        for format in ["csv", "json", "jsonl"] {
            let file = source.folder.file("books.\(format)").path
            let run = CommandRun("export", source.path, "Book", "--output", file)
            #expect(run.status == 0, "\(run.errors)")
            try execute("DELETE FROM ZBOOK", in: target.folder.store)
            let back = CommandRun("import", target.path, "Book", file)
            #expect(back.status == 0, "\(back.errors)")
            #expect(try plainSQL(sums, in: target.folder.store) == all, "\(format)")
        }
    }
}
