import Foundation
import StoreEngine

/// Checks that contexts and their objects are used on their queues, like Core Data's concurrency debugging.
///
/// The launch argument `-com.apple.CoreData.ConcurrencyDebug 1` turns it on, and so does an environment variable named
/// `com.apple.CoreData.ConcurrencyDebug` or `COREDATA_CONCURRENCY_DEBUG` with the value 1 (shells cannot set names with
/// dots). A use on a wrong queue then stops the program.
enum ConcurrencyDebug {
    static let isOn = isTurnedOn(arguments: CommandLine.arguments, environment: ProcessInfo.processInfo.environment)

    private static let setting = DebugSetting(
        name: "com.apple.CoreData.ConcurrencyDebug", variable: "COREDATA_CONCURRENCY_DEBUG")

    static func isTurnedOn(arguments: [String], environment: [String: String]) -> Bool {
        setting.level(arguments: arguments, environment: environment) > 0
    }
}

extension NSManagedObjectContext {
    /// Stops the program if concurrency debugging is on and the caller is not on the context's queue.
    func checkQueue() {
        guard ConcurrencyDebug.isOn, concurrencyType != .confinementConcurrencyType, !queue.isCurrent else { return }
        programmerError(
            "concurrency violation: context “\(name ?? "without a name")” or one of its objects was used outside its queue. "
                + "Use it inside perform or performAndWait, and a main-queue context on the main thread.")
    }
}
