// swift-format-ignore-file
#if canImport(CoreData)
    import CoreData
    import Foundation
    import Geometry

    /// Everything by hand, in the style of today: typed sets, enumerations, private parts, primitive values.
    public class Loan: NSManagedObject {
        /// Stored as its raw value.
        public enum Status: Int16, Sendable {
            case open, returned
        }

        @NSManaged public var title: String
        @NSManaged public var begins: Date
        @NSManaged public internal(set) var visits: Int64
        @NSManaged public var status: Status
        @NSManaged public var place: Point?
        @NSManaged public var labels: Labels?  // an alias of another file
        @NSManaged public var reader: Reader?
        @NSManaged private var secret: Data?
        @NSManaged private var primitiveTitle: String?

        /// Whatever the private property holds.
        public var password: String? {
            get { secret.map { String(decoding: $0, as: UTF8.self) } }
            set { secret = newValue.map { Data($0.utf8) } }
        }

        /// The title without telling the context of it.
        public var quietTitle: String? {
            get { primitiveTitle }
            set { primitiveTitle = newValue }
        }

        /// Counts a visit.
        public func visit() { visits += 1 }
    }

    #if WITH_NOTES
        extension Loan {
            @NSManaged public var note: String?
        }
    #else
        extension Loan {
            @NSManaged public var note: Wombat?
        }
    #endif

    #if DEBUG
        extension Loan {
            @NSManaged var debugNote: String?
        }
    #endif
#endif
