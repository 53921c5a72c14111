import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

/// In the user info of an error: the save of which it is not known whether it came through (``NSPostgreSQLUndecidedSave``).
public let NSPostgreSQLUndecidedSaveErrorKey = "NSPostgreSQLUndecidedSave"

/// A save whose connection was lost before the server answered to `COMMIT`, and of which no server could be asked in time.
///
/// ```swift
/// do { try context.save() } catch {
///     if let save = NSPostgreSQLUndecidedSave(of: error) { later.append(save) }
/// }
/// // When the servers are back:
/// if try !save.wasSaved(at: url) { … }
/// ```
///
/// It can be kept in a file, and be asked by another process.
public struct NSPostgreSQLUndecidedSave: Codable, Hashable, Sendable {
    let schema: String
    let writer: UUID
    let number: Int64
    let date: Date

    /// For how many days stores know what became of a save.
    static let daysKept = 30

    init(_ mark: SaveMark, schema: String, date: Date = Date()) {
        (self.schema, writer, number, self.date) = (schema, mark.writer, mark.number, date)
    }

    /// Creates the save that an error is about.
    ///
    /// - Parameter error: an error of a save. `nil` for one that is about anything else, or about a store that keeps no marks.
    public init?(of error: any Error) {
        var next: NSError? = error as NSError
        while let error = next {
            if let save = error.userInfo[NSPostgreSQLUndecidedSaveErrorKey] as? Self {
                self = save
                return
            }
            next = error.userInfo[NSUnderlyingErrorKey] as? NSError
        }
        return nil
    }

    /// Asks what became of the save. One that is not there now can never come through later, so that it can be done again.
    ///
    /// - Parameters:
    ///   - url: the store's URL.
    ///   - options: the store's options, such as how long to look for a server.
    /// - Returns: whether all of it is in the store; otherwise nothing is.
    /// - Throws: an `NSError` when no server can be asked, and for a save that is more than two weeks old, of which nothing may be known any more.
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
