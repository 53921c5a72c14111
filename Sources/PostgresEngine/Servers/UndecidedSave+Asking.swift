import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

extension NSPostgreSQLUndecidedSave {
    /// Asks whether the save was committed. A save that was not can no longer be committed later, so it can be done
    /// again.
    ///
    /// - Parameters:
    ///   - url: the store's URL.
    ///   - options: the store's options, such as how long to look for a server.
    /// - Returns: whether all of it is in the store; otherwise nothing of it is.
    /// - Throws: an `NSError` if no server can be asked, and for a save that is more than 15 days old, whose outcome
    ///   may no longer be known.
    public func wasSaved(at url: URL?, options: [AnyHashable: Any]? = nil) throws -> Bool {
        let place = try StorePlace(url, options)
        guard date.timeIntervalSinceNow > -Double(Self.daysKept) * 43200 else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "What became of a save to “\(place.name)” is not known any more: it is too old.", url: place.shownURL)
        }
        let mark = SaveMark(writer: writer, number: number)
        var connection: PostgresConnection?
        let (verdict, error) = try RecoveryRun.run(
            Recovery(.commit(hasMark: true), deadline: place.failover.deadline),
            from: PostgresError(state: PostgresError.connectionFailure, message: "the server gives no answer"),
            since: .now,
            connect: { connection = try ServerSearch.connect(place, StoreSettings(options), isPooled: true) },
            ask: { try connection.flatMap { try mark.isSaved(in: schema, $0) } })
        switch verdict {
        case .saved: return true
        case .undone: return false
        case .undecided, .unreachable:
            throw PostgresStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOperation, work: "ask of a save to", place: place)
        }
    }
}
