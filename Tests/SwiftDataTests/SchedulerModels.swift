import Foundation
import SwiftData

/// The properties of the models that wrote the fixture `swiftdata-scheduler`, as its archived model describes them.
enum Scheduler {
    @Model
    final class Task {
        #Index<Task>([\.id], [\.effectiveFrom], [\.effectiveFrom, \.nextVersion])
        #Unique<Task>([\.id, \.nextVersion], [\.nextVersion])

        var id: String
        var title: LocalizedText
        var instructions: LocalizedText
        var categoryValue: String?
        var schedule: Schedule
        var completionPolicy: CompletionPolicy
        var scheduleNotifications: Bool
        var notificationThread: NotificationThread
        var notificationTime: NotificationTime?
        var tags: [String]
        @Relationship(deleteRule: .cascade, inverse: \Outcome.task) var outcomes: [Outcome]
        var effectiveFrom: Date
        @Relationship(deleteRule: .nullify) var previousVersion: Task?
        @Relationship(deleteRule: .cascade, inverse: \Task.previousVersion) var nextVersion: Task?
        var userInfo: UserInfo

        init(id: String, title: LocalizedText, effectiveFrom: Date) {
            self.id = id
            self.title = title
            instructions = title
            schedule = Schedule(startDate: effectiveFrom, scheduleDuration: .tillEndOfDay)
            completionPolicy = .sameDay
            scheduleNotifications = false
            notificationThread = .global
            tags = []
            outcomes = []
            self.effectiveFrom = effectiveFrom
            userInfo = UserInfo()
        }
    }

    @Model
    final class Outcome {
        #Index<Outcome>([\.id], [\.occurrenceStartDate])

        @Attribute(.unique) var id: UUID
        var completionDate: Date
        var occurrenceStartDate: Date
        @Relationship(deleteRule: .nullify) var task: Task
        var userInfo = UserInfo()

        init(id: UUID, task: Task) {
            self.id = id
            completionDate = task.effectiveFrom
            occurrenceStartDate = task.effectiveFrom
            self.task = task
        }
    }

    struct LocalizedText: Codable, Equatable {
        var arguments: [Argument] = []
        var key: String

        enum Argument: Codable, Equatable {
            case string(String)
            case int64(Int64)
            case placeholder(Placeholder)
        }

        enum Placeholder: Codable, Equatable { case double, float, int, uint, object }
    }

    enum CompletionPolicy: Codable { case sameDay, afterStart, sameDayAfterStart, duringEvent, anytime }

    enum NotificationThread: Codable, Equatable { case global, task, custom(String), none }

    struct NotificationTime: Codable, Equatable {
        var hour: Int
        var minute: Int
        var second: Int
    }

    struct Schedule: Codable, Equatable {
        var startDate: Date
        var scheduleDuration: Duration
        var recurrenceRule: Data?
        var notificationMatchingHint = Hint.none

        enum Duration: Codable, Equatable {
            case allDay, tillEndOfDay
            case duration(Length)
        }

        struct Length: Codable, Equatable {
            var high: Int64
            var low: UInt64
        }

        enum Hint: Codable, Equatable {
            case components(month: Int?, day: Int?, hour: Int, minute: Int, second: Int, weekday: Int?)
            case allDayNotification(weekday: Int?)
            case none
        }
    }

    struct UserInfo: Codable, Equatable {
        var userInfo: [String: Data] = [:]

        init() {}

        init(from decoder: any Decoder) throws {
            userInfo = try decoder.singleValueContainer().decode([String: Data].self)
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(userInfo)
        }
    }
}
