import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

/// Option (text): the schema that holds the tables of a store in PostgreSQL; `public` where it is not given.
public let NSPostgreSQLSchemaOption = "NSPostgreSQLSchemaOption"
/// Option (text): a connection string of `libpq`'s, in place of the store's URL: for what no URL says, such as several hosts with ports.
public let NSPostgreSQLConnectionStringOption = "NSPostgreSQLConnectionStringOption"
/// Option (Boolean): no statement stays prepared on the server, and nothing is set for a session: for poolers that give each transaction
/// another connection.
public let NSPostgreSQLPooledOption = "NSPostgreSQLPooledOption"

/// Where a store in PostgreSQL is: a database, and a schema in it.
package struct StorePlace: Sendable {
    package let target: ConnectionTarget
    /// The schema of the store's tables.
    package let schema: String
    /// The URL without a password, for errors.
    package let shownURL: URL?

    /// - Parameters:
    ///   - url: the store's URL; its query may name the schema: `postgresql://app@db.example/books?schema=shop`.
    ///   - options: the store's options.
    /// - Throws: an `NSError` for a URL that is none of PostgreSQL's.
    package init(_ url: URL?, _ options: [AnyHashable: Any]?) throws {
        var schema: String?
        var text = options?[NSPostgreSQLConnectionStringOption] as? String
        if text == nil, let url {
            guard url.scheme == "postgresql" || url.scheme == "postgres" else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreOpen,
                    "A store in PostgreSQL needs a URL such as postgresql://user@host/database, and got one of scheme "
                        + "“\(url.scheme ?? "")”.", url: url.isFileURL ? url : nil)
            }
            (text, schema) = Self.withoutSchema(url.absoluteString)
        }
        guard let text else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen, "A store in PostgreSQL needs a URL, or a connection string.")
        }
        var target = ConnectionTarget(text)
        target.settings["application_name"] = ProcessInfo.processInfo.processName
        self.target = target
        self.schema = QualifiedName.part(
            options?[NSPostgreSQLSchemaOption] as? String ?? schema ?? Bookkeeping.defaultStore)
        shownURL = url.flatMap(Self.withoutPassword)
    }

    /// A few words for messages: the database, and the schema where it is not the usual one.
    package var name: String {
        let database = (try? target.parsed()["dbname"]) ?? "the default database"
        return schema == Bookkeeping.defaultStore ? database : "\(database), schema \(schema)"
    }

    /// A store's URL with another schema in it.
    package static func url(_ url: URL, schema: String) -> URL {
        guard let escaped = schema.addingPercentEncoding(withAllowedCharacters: .alphanumerics) else { return url }
        let plain = withoutSchema(url.absoluteString).0
        return URL(string: plain + (plain.contains("?") ? "&" : "?") + "schema=\(escaped)") ?? url
    }

    /// A URL that says what a connection string says.
    ///
    /// - Parameters:
    ///   - string: the connection string.
    ///   - schema: the schema of the store's tables; `nil` for what the string says.
    /// - Returns: nil for a string that makes no sense.
    package static func url(of string: String, schema: String?) -> URL? {
        var url: URL?
        if string.hasPrefix("postgresql://") || string.hasPrefix("postgres://") { url = URL(string: string) }
        if url == nil {
            let (plain, named) = withoutSchema(string)
            guard let values = try? ConnectionTarget(plain).parsed() else { return nil }
            let items = values.sorted { $0.key < $1.key }.compactMap { key, value in
                value.addingPercentEncoding(withAllowedCharacters: .alphanumerics).map { "\(key)=\($0)" }
            }
            url = URL(string: "postgresql:///?\(items.joined(separator: "&"))")
            if let named { url = url.map { Self.url($0, schema: named) } }
        }
        guard let url else { return nil }
        return schema.map { Self.url(url, schema: $0) } ?? url
    }

    /// Takes `schema=` out of a URI's query, which `libpq` does not know.
    private static func withoutSchema(_ uri: String) -> (String, String?) {
        guard let mark = uri.firstIndex(of: "?") else { return (uri, nil) }
        var items = uri[uri.index(after: mark)...].split(separator: "&").map(String.init)
        guard let position = items.firstIndex(where: { $0.hasPrefix("schema=") }) else { return (uri, nil) }
        let schema = items.remove(at: position).dropFirst("schema=".count)
        let rest = items.isEmpty ? "" : "?" + items.joined(separator: "&")
        return (uri[..<mark] + rest, String(schema).removingPercentEncoding)
    }

    private static func withoutPassword(_ url: URL) -> URL? {
        var text = url.absoluteString
        if let password = url.password(percentEncoded: true), !password.isEmpty,
            let start = text.range(of: ":" + password + "@")
        {
            text.replaceSubrange(start, with: "@")
        }
        if let mark = text.range(of: "password=") {
            let end = text[mark.upperBound...].firstIndex(of: "&") ?? text.endIndex
            text.replaceSubrange(mark.upperBound..<end, with: "…")
        }
        return URL(string: text)
    }
}
