import CoreData
import Testing

@testable import StoreEngine

@Suite("The log of statements")
struct StatementLogTests {
    @Test("The launch argument of Core Data turns it on, and an environment variable does")
    func switches() {
        func level(_ arguments: [String], _ environment: [String: String] = [:]) -> Int {
            StatementLog.setting.level(arguments: arguments, environment: environment)
        }
        #expect(level(["app", "-com.apple.CoreData.SQLDebug", "3"]) == 3)
        #expect(level(["app", "-com.apple.CoreData.SQLDebug", "0"], ["COREDATA_SQL_DEBUG": "1"]) == 0)
        #expect(level(["app", "-com.apple.CoreData.SQLDebug"]) == 0)
        #expect(level(["app"], ["com.apple.CoreData.SQLDebug": "YES"]) == 1)
        #expect(level(["app"], ["COREDATA_SQL_DEBUG": "1"]) == 1)
        #expect(level(["app"]) == 0)
    }

    @Test("With it, what a store runs is on the standard error output, with the time that it took")
    func statements() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try saveAuthor(level: 1)
        }
        let log = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(log.contains("CoreData: sql: INSERT INTO ZAUTHOR "))
        #expect(log.contains("CoreData: annotation: sql execution time: 0."))
        #expect(!log.contains("Jane"))
    }

    @Test("At level 3, the statements have their values")
    func values() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try saveAuthor(level: 3)
        }
        let log = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(log.contains("'Jane'"))
    }

    @Test("Without it, nothing is written")
    func silence() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            try saveAuthor(level: 0)
        }
        let log = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(result != nil && !log.contains("CoreData: sql"))
    }
}

private func saveAuthor(level: Int) throws {
    setenv("COREDATA_SQL_DEBUG", "\(level)", 1)
    let context = try Library.inMemory().newBackgroundContext()
    try context.performAndWait {
        context.make("Author", ["name": "Jane"])
        try context.save()
    }
}
