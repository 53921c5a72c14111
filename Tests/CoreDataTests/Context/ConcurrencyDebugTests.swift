import CoreData
import Testing

@testable import CoreData
@testable import SQLGeneration
@testable import SQLiteEngine

@Suite("Concurrency debugging")
struct ConcurrencyDebugTests {
    @Test("The launch argument of Core Data turns it on, and an environment variable does")
    func switches() {
        func isOn(_ arguments: [String], _ environment: [String: String] = [:]) -> Bool {
            ConcurrencyDebug.isTurnedOn(arguments: arguments, environment: environment)
        }
        #expect(isOn(["app", "-com.apple.CoreData.ConcurrencyDebug", "1"]))
        #expect(!isOn(["app", "-com.apple.CoreData.ConcurrencyDebug", "0"]))
        #expect(!isOn(["app", "-com.apple.CoreData.ConcurrencyDebug"]))
        #expect(isOn(["app"], ["com.apple.CoreData.ConcurrencyDebug": "1"]))
        #expect(isOn(["app"], ["COREDATA_CONCURRENCY_DEBUG": "YES"]))
        #expect(!isOn(["app"], ["COREDATA_CONCURRENCY_DEBUG": "0"]))
    }

    @Test("With it, an object that is read outside its queue stops the program")
    func wrongQueue() async {
        await #expect(processExitsWith: .failure) {
            setenv("COREDATA_CONCURRENCY_DEBUG", "1", 1)
            let context = try Library.inMemory().newBackgroundContext()
            let author = context.performAndWait { Unchecked(context.make("Author", ["name": "A"])) }
            _ = author.value.value(forKey: "name")
        }
    }

    @Test("With it, what keeps to the queues goes on")
    func rightQueue() async {
        await #expect(processExitsWith: .success) {
            setenv("COREDATA_CONCURRENCY_DEBUG", "1", 1)
            let family = try Family()
            try family.child.performAndWait {
                family.child.make("Book", ["author": family.child.make("Author", ["name": "A"])])
                try family.child.save()
                try family.parent.performAndWait { try family.parent.save() }
                let count = try family.child.all("Book").count
                guard count == 1 else { exit(1) }
            }
        }
    }
}
