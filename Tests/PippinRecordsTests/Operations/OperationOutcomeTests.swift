import PippinRecords
import Testing

@Suite("How operations end")
struct OperationOutcomeTests {
    private let shelf: Shelf
    private var manager: PersistenceManager { shelf.manager }
    private let queue = OperationQueue()

    init() throws {
        shelf = try Shelf()
        try shelf.save([.ada])
    }

    /// The operation's merge policy settles a conflict with somebody who saves meanwhile.
    private func name(after policy: NSMergePolicy?, _ number: Int) throws -> (name: String?, error: (any Error)?) {
        let manager = manager
        let operation = DataOperation(manager: manager, mergePolicy: policy) { context, _ in
            let ada = try #require(try PersonRecord.first(in: context))
            ada.setValue("Operation \(number)", forKey: "name")
            let other = manager.newWorkerContext()
            try other.performAndWait {
                try #require(try PersonRecord.first(in: other)).setValue("Other \(number)", forKey: "name")
                try other.save()
            }
        }
        queue.addOperations([operation], waitUntilFinished: true)
        var error: (any Error)?
        if case .failure(let failure)? = operation.result { error = failure }
        return (try shelf.text("SELECT ZNAME FROM ZPERSONRECORD"), error)
    }

    @Test("a conflict with the store is settled by the operation's merge policy")
    func policies() throws {
        #expect(try name(after: nil, 1).name == "Operation 1")
        #expect(try name(after: .mergeByPropertyStoreTrump, 2).name == "Other 2")
        let refused = try name(after: .error, 3)
        #expect(refused.name == "Other 3")
        #expect((refused.error as? PersistenceError)?.code == .conflict)
    }

    @Test("an operation that is cancelled before it begins says so")
    func cancelledBefore() throws {
        let operation = DataOperation(manager: manager) { _, _ in 1 }
        operation.cancel()
        #expect(operation.result == nil)
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(throws: CancellationError.self) { try #require(operation.result).get() }
    }

    @Test("a statement that is done is reported as done, though the operation was cancelled meanwhile")
    func cancelledStatement() throws {
        final class Late: BatchDeleteOperation<PersonRecord>, @unchecked Sendable {
            override func performWork(in context: NSManagedObjectContext) throws -> Int {
                defer { cancel() }
                return try super.performWork(in: context)
            }
        }
        let operation = Late(manager: manager, entity: PersonRecord.self)
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(try shelf.number("SELECT count(*) FROM ZPERSONRECORD") == 0)
        #expect(try operation.result?.get() == 1)
    }
}
