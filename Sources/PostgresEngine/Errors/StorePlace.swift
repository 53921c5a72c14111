import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

/// Option (text): the schema that holds the tables of a store in PostgreSQL; `public` if not given.
public let NSPostgreSQLSchemaOption = "NSPostgreSQLSchemaOption"
/// Option (text): a connection string of `libpq` that replaces the store's URL, for what a URL cannot express, such as
/// several hosts with ports.
public let NSPostgreSQLConnectionStringOption = "NSPostgreSQLConnectionStringOption"
/// Option (Boolean): keeps no statement prepared on the server, and sets nothing for the session. For poolers that give
/// each transaction another connection.
public let NSPostgreSQLPooledOption = "NSPostgreSQLPooledOption"

/// The location of a store in PostgreSQL: a database, and a schema in it.
package struct StorePlace: Sendable {
    package let target: ConnectionTarget
    /// The schema of the store's tables.
    package let schema: String
    /// The URL without a password, for errors.
    package let shownURL: URL?
    /// The shared transaction, if this is one of several stores in it.
    package let session: String?
    /// How the loss of the server is handled.
    package let failover: FailoverSettings

    /// - Parameters:
    ///   - url: the store's URL; its query may name the schema: `postgresql://app@db.example/books?schema=shop`.
    ///   - options: the store's options.
    /// - Throws: an `NSError` for a URL that does not name a PostgreSQL database.
    package init(_ url: URL?, _ options: [AnyHashable: Any]?) throws {
        var (schema, session): (String?, String?)
        var text = options?[NSPostgreSQLConnectionStringOption] as? String
        // Within a transaction of several stores, the URL identifies the store.
        if let url, url.absoluteString.contains("pippin_session=") { text = nil }
        if text == nil, let url {
            guard url.scheme == "postgresql" || url.scheme == "postgres" else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreOpen,
                    "A store in PostgreSQL needs a URL such as postgresql://user@host/database, and got one of scheme "
                        + "“\(url.scheme ?? "")”.", url: url.isFileURL ? url : nil)
            }
            (text, session) = Self.without("pippin_session", url.absoluteString)
            (text, schema) = Self.without("schema", text ?? "")
        }
        self.session = session
        guard let text else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen, "A store in PostgreSQL needs a URL, or a connection string.")
        }
        var target = ConnectionTarget(text)
        target.settings["application_name"] = ProcessInfo.processInfo.processName
        failover = FailoverSettings(options, hosts: target.hostCount)
        self.target = FailoverSettings.completed(
            target, isReadOnly: StoreSettings.flag(options, NSReadOnlyPersistentStoreOption))
        let given = session == nil ? options?[NSPostgreSQLSchemaOption] as? String : nil
        self.schema = QualifiedName.part(given ?? schema ?? Bookkeeping.defaultStore)
        shownURL = url?.withoutPassword
        guard self.schema.utf8.count <= SnakeCase.longest else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen,
                "The name of the schema “\(self.schema)” has more than \(SnakeCase.longest) bytes, the most that PostgreSQL keeps of a name.",
                url: shownURL, suggestion: "Give the schema a shorter name.")
        }
        guard !self.schema.isEmpty, self.schema != Bookkeeping.schema else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen,
                self.schema.isEmpty
                    ? "The name of the schema is empty."
                    : "The schema “\(self.schema)” describes the stores of its database, and cannot hold one.",
                url: shownURL, suggestion: "Name another schema, or none for “\(Bookkeeping.defaultStore)”.")
        }
    }

    /// Whether another place is the same schema of the same database.
    package func isSame(as other: StorePlace) -> Bool {
        target.description == other.target.description && schema == other.schema
    }

    /// A short name for messages: the database, and the schema unless it is the usual one.
    package var name: String {
        let database = (try? target.parsed()["dbname"]) ?? "the default database"
        return schema == Bookkeeping.defaultStore ? database : "\(database), schema \(schema)"
    }

    /// The same store URL with another schema.
    package static func url(_ url: URL, schema: String) -> URL {
        guard let escaped = schema.addingPercentEncoding(withAllowedCharacters: .alphanumerics) else { return url }
        let plain = without("schema", url.absoluteString).0
        return URL(string: plain + (plain.contains("?") ? "&" : "?") + "schema=\(escaped)") ?? url
    }

    /// A store's URL as part of a transaction.
    package static func url(_ url: URL, session: String) -> URL {
        let plain = without("pippin_session", url.absoluteString).0
        return URL(string: plain + (plain.contains("?") ? "&" : "?") + "pippin_session=\(session)") ?? url
    }

    /// The location of a store given by a connection string.
    ///
    /// - Parameters:
    ///   - connection: the connection string.
    ///   - schema: the schema of the store's tables; `nil` for that of the string.
    /// - Returns: the URL, and the option that the store needs where the string has no URL, so that opening the store
    ///   reports what is wrong with it.
    package static func location(of connection: String, schema: String?) -> (url: URL, option: (String, NSObject)?) {
        // Requests about a store that is not open use its URL.
        if let url = url(of: connection, schema: schema) { return (url, nil) }
        return (
            URL(string: "postgresql:///") ?? URL(fileURLWithPath: "/"),
            (NSPostgreSQLConnectionStringOption, connection as NSString)
        )
    }

    /// A URL with the content of a connection string.
    ///
    /// - Parameters:
    ///   - string: the connection string.
    ///   - schema: the schema of the store's tables; `nil` for that of the string.
    /// - Returns: nil if the string cannot be parsed.
    package static func url(of string: String, schema: String?) -> URL? {
        var url: URL?
        if string.hasPrefix("postgresql://") || string.hasPrefix("postgres://") { url = URL(string: string) }
        if url == nil {
            let (plain, named) = without("schema", string)
            guard var values = try? ConnectionTarget(plain).parsed() else { return nil }
            // Messages name a store by the end of its URL's path.
            let database = values.removeValue(forKey: "dbname")?.addingPercentEncoding(
                withAllowedCharacters: .alphanumerics)
            let items = values.sorted { $0.key < $1.key }.compactMap { key, value in
                value.addingPercentEncoding(withAllowedCharacters: .alphanumerics).map { "\(key)=\($0)" }
            }
            url = URL(string: "postgresql:///\(database ?? "")?\(items.joined(separator: "&"))")
            if let named { url = url.map { Self.url($0, schema: named) } }
        }
        guard let url else { return nil }
        return schema.map { Self.url(url, schema: $0) } ?? url
    }

    /// Removes a parameter that `libpq` does not know from a URI's query.
    private static func without(_ key: String, _ uri: String) -> (String, String?) {
        guard let mark = uri.firstIndex(of: "?") else { return (uri, nil) }
        var items = uri[uri.index(after: mark)...].split(separator: "&").map(String.init)
        guard let position = items.firstIndex(where: { $0.hasPrefix(key + "=") }) else { return (uri, nil) }
        let value = items.remove(at: position).dropFirst(key.count + 1)
        let rest = items.isEmpty ? "" : "?" + items.joined(separator: "&")
        return (uri[..<mark] + rest, String(value).removingPercentEncoding)
    }
}

extension StoreSettings {
    /// The statement that limits how long statements wait for locks, as the options say.
    func lockTimeout(local: Bool = false) -> String {
        "SET \(local ? "LOCAL " : "")lock_timeout = \(timeout > 0 ? Int(min(timeout, 1_000_000) * 1000) : 0)"
    }
}
