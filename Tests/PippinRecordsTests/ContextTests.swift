import PippinRecords
import Testing

@Suite("A manager's contexts")
struct ContextTests {
    @Test("the main context is the main queue's and merges what is saved elsewhere")
    func mainContext() throws {
        let shelf = try Shelf()
        let context = shelf.manager.mainContext
        #expect(context.concurrencyType == .mainQueueConcurrencyType)
        #expect(context.automaticallyMergesChangesFromParent)
    }

    @Test("a worker is a new context with a queue of its own and the manager's merge policy")
    func worker() throws {
        let shelf = try Shelf()
        let worker = shelf.manager.newWorkerContext()
        #expect(worker.concurrencyType == .privateQueueConcurrencyType)
        #expect(worker !== shelf.manager.newWorkerContext())
        #expect((worker.mergePolicy as? NSMergePolicy)?.mergeType == .mergeByPropertyObjectTrumpMergePolicyType)
    }

    @Test("a thread keeps its context, and another thread has another")
    func threads() async throws {
        let manager = try Shelf().manager
        let first = await onNewThread { (manager.contextForThread(), manager.contextForThread()) }
        let second = await onNewThread { manager.contextForThread() }
        #expect(first.0 === first.1)
        #expect(first.0 !== second)
    }

    @Test("are the main context on the main thread")
    @MainActor func mainThread() throws {
        let shelf = try Shelf()
        #expect(shelf.manager.contextForThread() === shelf.manager.mainContext)
    }

    @Test("a read in a context finds what is not saved there yet")
    func readInContext() throws {
        let shelf = try Shelf()
        let worker = shelf.manager.newWorkerContext()
        try worker.performAndWait { _ = try PersonRecord.record(from: .ada, in: worker) }
        #expect(try shelf.manager.fetchModels(entity: PersonRecord.self, context: worker) == [.ada])
        #expect(try shelf.manager.fetchModels(entity: PersonRecord.self).isEmpty)
    }

    @Test("a write in a context saves it, with what else was changed there")
    func writeInContext() throws {
        let shelf = try Shelf()
        let worker = shelf.manager.newWorkerContext()
        try worker.performAndWait { _ = try PersonRecord.record(from: .ada, in: worker) }
        try shelf.manager.save(entity: PersonRecord.self, models: [.blaise], shouldOverwrite: false, context: worker)
        #expect(try shelf.strings("SELECT ZNAME FROM ZPERSONRECORD ORDER BY ZNAME") == ["Ada", "Blaise"])
    }

    private func onNewThread<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: work()) }.start()
        }
    }
}
