import CoreData
import Foundation
import TestSupport
import Testing

@Suite("An asynchronous fetch does not keep its caller waiting")
struct AsynchronousFetchTests {
    private func filled() throws -> BatchStore {
        let store = try BatchStore()
        try store.save { context in
            for name in ["a", "b", "c"] { context.make("Tag", ["name": name]) }
        }
        return store
    }

    private func request() -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Tag")
        request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
        return request
    }

    @Test("execute(_:) of a plain fetch request has its results at once, also those that are not objects")
    func immediate() throws {
        let store = try filled()
        try store.context.performAndWait {
            let objects = try store.context.execute(request()) as? NSAsynchronousFetchResult<NSManagedObject>
            #expect(objects?.finalResult?.map { $0.string("name") } == ["a", "b", "c"])
            #expect(objects?.operationError == nil && objects?.progress?.isFinished == true)
            let count = request()
            count.resultType = .countResultType
            let counted = try store.context.execute(count) as? NSAsynchronousFetchResult<NSFetchRequestResult>
            #expect(counted?.finalResult?.first as? Int == 3)
            let names = request()
            names.resultType = .dictionaryResultType
            names.propertiesToFetch = ["name"]
            let found = try store.context.execute(names) as? NSAsynchronousFetchResult<NSFetchRequestResult>
            #expect(found?.finalResult as? [NSDictionary] == [["name": "a"], ["name": "b"], ["name": "c"]])
            let unknown = NSFetchRequest<NSManagedObject>(entityName: "Label")
            #expect(throws: NSError.self) { try store.context.execute(unknown) }
        }
    }

    @Test("The result comes to the completion block on the context's queue, after the caller has gone on", .ownThread)
    func completion() throws {
        let store = try filled()
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var names: [String?] = []  // written before the semaphore is signalled
        try store.context.performAndWait {
            let fetch = NSAsynchronousFetchRequest(fetchRequest: request()) { result in
                names = result.finalResult?.map { $0.string("name") } ?? []
                #expect(result.managedObjectContext === store.context)
                #expect(result.operationError == nil)
                done.signal()
            }
            fetch.estimatedResultCount = 10
            let result = try #require(
                try store.context.execute(fetch) as? NSAsynchronousFetchResult<NSManagedObject>)
            #expect(result.finalResult == nil)
            #expect(result.fetchRequest === fetch)
            #expect(result.progress?.totalUnitCount == 10)
            #expect(result.progress?.isFinished == false)
        }
        done.wait()
        #expect(names == ["a", "b", "c"])
    }

    @Test("A fetch that is cancelled has an empty result and no error", .ownThread)
    func cancellation() throws {
        let store = try filled()
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var error: (any Error)?  // written before the semaphore is signalled
        nonisolated(unsafe) var found: Int?
        try store.context.performAndWait {
            let fetch = NSAsynchronousFetchRequest(fetchRequest: request()) { result in
                error = result.operationError
                found = result.finalResult?.count
                done.signal()
            }
            let result = try #require(try store.context.execute(fetch) as? NSPersistentStoreAsynchronousResult)
            result.cancel()
            #expect(result.progress?.isCancelled == true)
        }
        done.wait()
        #expect(error == nil)
        #expect(found == 0)
    }

    @Test("What the store refuses comes as the operation's error; an unknown entity is thrown at once", .ownThread)
    func failure() throws {
        let store = try filled()
        let done = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var error: NSError?  // written before the semaphore is signalled
        let bad = request()
        bad.predicate = NSPredicate(format: "nothing == 1")
        try store.context.performAndWait {
            _ = try store.context.execute(
                NSAsynchronousFetchRequest(fetchRequest: bad) { result in
                    error = result.operationError as NSError?
                    done.signal()
                })
            let unknown = NSFetchRequest<NSManagedObject>(entityName: "Nobody")
            #expect(throws: NSError.self) {
                _ = try store.context.execute(NSAsynchronousFetchRequest(fetchRequest: unknown))
            }
        }
        done.wait()
        #expect(error?.localizedDescription.contains("nothing") == true)
    }
}
