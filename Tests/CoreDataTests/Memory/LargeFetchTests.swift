import CoreData
import SQLiteConnection
import TestSupport
import Testing

/// The most memory that the process has had, in megabytes.
private func peakMegabytes() -> Int {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return (Int(line.filter(\.isNumber)) ?? .max) / 1024
}

private let isUnderThreadSanitizer = dlsym(nil, "__tsan_init") != nil

@Suite("Memory: large fetches")
struct LargeFetchTests {
    /// What a fetch of 1,000,000 objects may add to the process at its peak: their identities, not their values.
    static let bound = 300

    // In a process of its own: the peak is the fetch's alone.
    @Test(
        "A fetch of 1,000,000 objects with a batch size of 500, of which 20 batches are read, needs at most 300 MB",
        .enabled(if: !isUnderThreadSanitizer, "ThreadSanitizer multiplies memory"), .timeLimit(.minutes(15)))
    func batched() async throws {
        let result = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            let folder = try TestFolder()
            let context = try LargeFetchTests.filledContext(in: folder, rows: 1_000_000)
            let before = peakMegabytes()
            try context.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
                request.sortDescriptors = [NSSortDescriptor(key: "number", ascending: true)]
                request.fetchBatchSize = 500
                let items = try context.fetch(request)
                var sum = 0
                for item in items.prefix(10_000) { sum += item.value(forKey: "number") as? Int ?? 0 }
                guard items.count == 1_000_000, sum == 10_000 * 10_001 / 2 else { exit(2) }
                guard !items[9_999].isFault, items[10_000].isFault else { exit(3) }
            }
            let used = peakMegabytes() - before
            print("megabytes: \(used)")
            if used > LargeFetchTests.bound { exit(1) }
        }
        let output = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
        #expect(output.contains("megabytes: "), "\(output)")
    }

    /// A context on a store with rows that plain SQL inserted.
    static func filledContext(in folder: TestFolder, rows: Int) throws -> NSManagedObjectContext {
        let model = NSManagedObjectModel()
        model.entities = [
            Library.entity(
                "Item",
                [
                    Library.attribute("name", .stringAttributeType),
                    Library.attribute("number", .integer64AttributeType),
                ])
        ]
        let container = try Library.stored(at: folder.file("items.sqlite"), model)
        let connection = try Connection(path: folder.file("items.sqlite").path, mode: .readWrite)
        try connection.execute(
            """
            INSERT INTO ZITEM (Z_PK, Z_ENT, Z_OPT, ZNAME, ZNUMBER)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
            SELECT i, 1, 1, 'item ' || i, i FROM n
            """)
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(rows)")
        return container.newBackgroundContext()
    }
}
