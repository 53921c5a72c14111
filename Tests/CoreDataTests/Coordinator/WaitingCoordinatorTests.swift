import CoreData
import Foundation
import TestSupport
import Testing

@Suite("A coordinator that waits for its store", .ownThread)
struct WaitingCoordinatorTests {
    /// A transaction of the other coordinator's may be what the store waits for: both would wait for ever.
    @Test("keeps no context of another coordinator waiting")
    func otherCoordinators() {
        let model = NSManagedObjectModel()
        let waiting = NSPersistentStoreCoordinator(managedObjectModel: model)
        let other = NSPersistentStoreCoordinator(managedObjectModel: model)
        let (isHeld, isDone, goOn, asked) =
            (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
        Thread.detachNewThread {
            waiting.performAndWait {
                isHeld.signal()
                goOn.wait()
            }
        }
        isHeld.wait()
        asked.enter()
        Thread.detachNewThread {
            NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType).persistentStoreCoordinator = waiting
            asked.leave()
        }
        // Long enough for that thread to wait; where it is late, nothing is shown.
        Thread.sleep(forTimeInterval: 0.1)
        Thread.detachNewThread {
            NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType).persistentStoreCoordinator = other
            isDone.signal()
        }
        #expect(isDone.wait(timeout: .now() + 10) == .success)
        goOn.signal()
        asked.wait()
    }
}
