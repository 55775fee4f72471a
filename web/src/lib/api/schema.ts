// Generated from docs/reference/openapi.json by `npm run gen`; do not edit.

export interface paths {
    "/livez": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say that the process is alive. */
        get: operations["livez"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say whether the server can do its work. */
        get: operations["readyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show version and build. */
        get: operations["version"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The OpenAPI 3.1 description of this API. */
        get: operations["openapi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics in the Prometheus text format. */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics of every node in the Prometheus text format. */
        get: operations["metrics_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics/workloads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Metrics of every service on every node in the Prometheus text format. */
        get: operations["metrics_workloads"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/metrics/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Key figures of the installation over time, as this server remembers them. */
        get: operations["metrics_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/servers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the control-plane processes. */
        get: operations["server_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/debug/reconcilers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what every reconciler of this server is doing and last did. */
        get: operations["reconciler_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/diagnosis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Examine the control plane: what is wrong with it, and what to do. */
        get: operations["diagnose"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the backups that servers made by themselves, or tried to, newest first. */
        get: operations["backup_list"];
        put?: never;
        /** Take a copy of everything the control plane knows, as it is at this moment. */
        post: operations["backup_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backup-schedule": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show how often servers make backups, and when the next is due. */
        get: operations["backup_schedule_show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backup-schedule/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Have this server make a backup now, as if it were due. */
        post: operations["backup_schedule_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/authority/trusted": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the certificates of the authorities that are trusted, to be pinned by whoever trusts this connection. */
        get: operations["authority_trusted"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/authority": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the authority, and how far another is in taking its place. */
        get: operations["authority_show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/authority/rotate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin to replace the authority: a new one is trusted at once and issues a few seconds later. */
        post: operations["authority_rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/authority/abort": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Go back to the authority that was to be replaced; it issues again, and the new one goes. */
        post: operations["authority_abort"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/authority/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Drop the authority that goes. */
        post: operations["authority_finish"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/.well-known/openid-configuration": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describe the issuer of workload tokens to those who check them. */
        get: operations["openid_configuration"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/oauth/jwks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the public keys that workload tokens are signed with. */
        get: operations["jwks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/setup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Create the first admin with the one-time code that the first start printed. */
        post: operations["setup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Log in with name and password, and a code where there is a second factor. */
        post: operations["login"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End the session or revoke the token that makes this call. */
        post: operations["logout"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the caller and its roles. */
        get: operations["whoami"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/whoami/password": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Change the caller's own password; every other session of the caller ends, and a browser's own goes on under a new cookie. */
        post: operations["password_change"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the caller's browser sessions. */
        get: operations["web_session_list"];
        put?: never;
        post?: never;
        /** End every session of the caller but the one that makes this call. */
        delete: operations["web_session_end_others"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End one of the caller's browser sessions. */
        delete: operations["web_session_end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a user's browser sessions. */
        get: operations["user_session_list"];
        put?: never;
        post?: never;
        /** End every session of a user: browsers, and command lines that logged in. */
        delete: operations["user_session_end_all"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user}/sessions/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** End one of a user's browser sessions. */
        delete: operations["user_session_end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/oidc": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say whether people can log in at an identity provider. */
        get: operations["oidc_show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/oidc/begin": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin a login at the identity provider; its answer is needed to finish it. */
        post: operations["oidc_begin"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/oidc/finish": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Finish a login with what the identity provider gave to the browser. */
        post: operations["oidc_finish"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user}/identities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the identities at providers that log in as a user. */
        get: operations["user_identity_list"];
        put?: never;
        /** Let an identity at the provider log in as a user. */
        post: operations["user_identity_add"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user}/identities/remove": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let an identity at a provider not log in as a user any more. */
        post: operations["user_identity_remove"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/whoami/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show how the caller stands with the second factor. */
        get: operations["totp_show"];
        put?: never;
        /** Make a secret for an authenticator; it counts once a code of it was confirmed. */
        post: operations["totp_enrol"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/whoami/totp/confirm": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Confirm the secret with a code of it: logins need one from then on, and other sessions end. */
        post: operations["totp_confirm"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/whoami/totp/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Switch the caller's second factor off. */
        post: operations["totp_disable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user}/totp": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Take the second factor off a user who lost the device and the recovery codes. */
        delete: operations["totp_reset"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List all invitations, newest first. */
        get: operations["invitation_list"];
        put?: never;
        /** Invite somebody to a role on the whole installation. */
        post: operations["invitation_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/invitations/{invitation}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an invitation that was not used. */
        delete: operations["invitation_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/invitations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the invitations to a project, newest first. */
        get: operations["project_invitation_list"];
        put?: never;
        /** Invite somebody to a role in a project. */
        post: operations["project_invitation_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/invitations/{invitation}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke an invitation to a project that was not used. */
        delete: operations["project_invitation_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accept/show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Show what an invitation is for, to whoever holds it. */
        post: operations["invitation_show"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accept": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make an account with an invitation, and log in. */
        post: operations["invitation_accept"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user}/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a link with which a user can set a new password, in place of any earlier one. */
        post: operations["password_reset_issue"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/password-reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Set a new password with such a link; every session of the user ends. */
        post: operations["password_reset_use"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List users and service accounts. */
        get: operations["user_list"];
        put?: never;
        /** Create a user or service account. */
        post: operations["user_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/users/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a user. */
        get: operations["user_get"];
        put?: never;
        post?: never;
        /** Remove a user with its tokens, sessions and roles. */
        delete: operations["user_remove"];
        options?: never;
        head?: never;
        /** Change a user: disable or enable, set a password, set the role on the whole installation. */
        patch: operations["user_update"];
        trace?: never;
    };
    "/api/v1/projects/{project}/members": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List who holds a role in a project. */
        get: operations["member_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/members/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Give a user or a group a role in a project, in place of the one held there before. */
        put: operations["member_set"];
        post?: never;
        /** Take a user's or a group's role in a project away. */
        delete: operations["member_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/roles": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List roles: the built-in ones first, then the custom ones by name. */
        get: operations["role_list"];
        put?: never;
        /** Create a custom role, which allows no more than the caller may do on the whole installation. */
        post: operations["role_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/roles/{role}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a role. */
        get: operations["role_get"];
        put?: never;
        post?: never;
        /** Remove a custom role that nobody holds. */
        delete: operations["role_remove"];
        options?: never;
        head?: never;
        /** Change a custom role: what it allows, its description. It counts from the next request of everybody who holds it. */
        patch: operations["role_update"];
        trace?: never;
    };
    "/api/v1/roles/{role}/holders": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show who holds a custom role, and where. */
        get: operations["role_holders"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/groups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List groups. */
        get: operations["group_list"];
        put?: never;
        /** Create a group. */
        post: operations["group_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/groups/{group}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a group with its members and the roles bound to it. */
        get: operations["group_get"];
        put?: never;
        post?: never;
        /** Remove a group with the roles bound to it. */
        delete: operations["group_remove"];
        options?: never;
        head?: never;
        /** Change a group: its description, its role on the whole installation. */
        patch: operations["group_update"];
        trace?: never;
    };
    "/api/v1/groups/{group}/members/{user}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Put a user into a group; it counts from their next request. */
        put: operations["group_member_add"];
        post?: never;
        /** Take a user out of a group; it counts from their next request. */
        delete: operations["group_member_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/access/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ask whether the caller, or (as admin) somebody else, may do something. */
        get: operations["access_check"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/access/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ask the same, and which role, group and limit decide. */
        get: operations["access_explain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List requests for approvals, newest first: those of projects in which the caller sees them, its own, or those that it can decide on. */
        get: operations["approval_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{approval}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a request for an approval, with what will be done. */
        get: operations["approval_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{approval}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Agree to what somebody else wants to do. Tasks go on at once; anything else is repeated by who asked, with the header `Hostler-Approval`. */
        post: operations["approval_approve"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{approval}/deny": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Do not agree. Tasks that wait for it are rejected. */
        post: operations["approval_deny"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approvals/{approval}/withdraw": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take a request back that the caller made. */
        post: operations["approval_withdraw"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approval-policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what needs an approval on the whole installation, by name. */
        get: operations["approval_policy_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/approval-policies/{policy}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a policy of the whole installation. */
        get: operations["approval_policy_get"];
        /** Say what needs an approval on the whole installation. */
        put: operations["approval_policy_set"];
        post?: never;
        /** Remove a policy of the whole installation. What waits already goes on waiting. */
        delete: operations["approval_policy_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/approval-policies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what needs an approval in a project, by name. */
        get: operations["project_approval_policy_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/approval-policies/{policy}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a policy of a project. */
        get: operations["project_approval_policy_get"];
        /** Say what needs an approval in a project. */
        put: operations["project_approval_policy_set"];
        post?: never;
        /** Remove a policy of a project. What waits already goes on waiting. */
        delete: operations["project_approval_policy_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the caller's tokens; admins see everybody's. */
        get: operations["token_list"];
        put?: never;
        /** Create a token for the caller, or (as admin) for a service account. */
        post: operations["token_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tokens/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a token. */
        get: operations["token_get"];
        put?: never;
        post?: never;
        /** Revoke a token at once. */
        delete: operations["token_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the projects the caller has a role in. */
        get: operations["project_list"];
        put?: never;
        /** Create a project. */
        post: operations["project_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a project. */
        get: operations["project_get"];
        put?: never;
        post?: never;
        /** Remove a project that holds nothing any more. */
        delete: operations["project_remove"];
        options?: never;
        head?: never;
        /** Change a project: description, weight, quota. */
        patch: operations["project_update"];
        trace?: never;
    };
    "/api/v1/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List nodes by name; with `watch=true`, stream changes. */
        get: operations["node_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a node. */
        get: operations["node_get"];
        put?: never;
        post?: never;
        /** Take a node out: stop what runs there, revoke its certificates, forget it. */
        delete: operations["node_remove"];
        options?: never;
        head?: never;
        /** Change a node's labels. */
        patch: operations["node_update"];
        trace?: never;
    };
    "/api/v1/nodes/{node}/cordon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Place nothing new on a node; what runs there goes on. */
        post: operations["node_cordon"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/uncordon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a node take work again. */
        post: operations["node_uncordon"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/reload": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Look at a node's machine anew, and tell the node again everything that it should run. */
        post: operations["node_reload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cordon a node and wait until it is empty; after the deadline, stop what still runs. */
        post: operations["node_drain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/workloads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the workloads of every project that are on a node, and how they stand there. */
        get: operations["node_workload_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/node-holdings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What is reserved of every node, by name. */
        get: operations["node_held_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/join-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List join tokens. */
        get: operations["join_token_list"];
        put?: never;
        /** Create a token with which one machine can join. */
        post: operations["join_token_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/join-tokens/{token}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Revoke a join token that was not used. */
        delete: operations["join_token_revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/join": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Become a node: a join token and a certificate request in, a certificate out. */
        post: operations["join"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Measure a node's machine and judge it: load, memory, disks, failed services, clock, temperatures, certificate. */
        get: operations["node_health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/packages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List packages of a node's machine: installed, upgradable, or found by a search. */
        get: operations["node_packages"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/services": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the services of a node's machine, or show one of them. */
        get: operations["node_services"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read what a node's machine wrote down: its journal, or a file below `/var/log`. */
        get: operations["node_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the processes of a node's machine. */
        get: operations["node_processes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/disks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the file systems of a node's machine, and what is largest below a directory. */
        get: operations["node_disks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the users of a node's machine. */
        get: operations["node_users"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/deeds/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say what a deed would change on a node's machine, and change nothing. */
        post: operations["node_deed_check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/deeds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Do something to a node's machine. What came of it is the result of the operation's step: `HostOutcome`. */
        post: operations["node_deed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keep what is on paths of a node's machine, with an operation. */
        post: operations["node_backup_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/node-backups": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List backups of nodes, newest first. */
        get: operations["node_backup_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/node-backups/{backup}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a backup of a node. */
        get: operations["node_backup_get"];
        put?: never;
        post?: never;
        /** Remove a backup of a node; content that no other backup has goes in time. */
        delete: operations["node_backup_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/node-backups/{backup}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what is in a backup of a node, as it was met. */
        get: operations["node_backup_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/node-backups/{backup}/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Read a backup of a node through, with an operation: whether everything is there and right. */
        post: operations["node_backup_verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/node-backups/{backup}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Put a backup back, on its node or on another one; needs node.backup too. What came of it is the result of the operation's step: `RestoreOutcome`. */
        post: operations["node_backup_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List every version of every image, by name. */
        get: operations["image_list"];
        put?: never;
        /** Make a version of an image from chunks that were sent. */
        post: operations["image_push"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/images/{image}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a version of an image; the newest where none is named. */
        get: operations["image_get"];
        put?: never;
        post?: never;
        /** Keep a version of an image no longer; without a version, all of them. */
        delete: operations["image_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/images/{image}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a version's content, as `docker load` takes it. */
        get: operations["image_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/images/{image}/take": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a version of an image from what a node has: an image, or a container as it is now. */
        post: operations["image_take"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/images/{image}/sync": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Have a version of an image on nodes before anything needs it there. */
        post: operations["image_sync"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/images/{image}/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Ask every node that has a container engine whether it has a version of an image. */
        get: operations["image_nodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/images": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the images that a node's engine has. */
        get: operations["node_image_list"];
        put?: never;
        post?: never;
        /** Remove an image from a node's engine. */
        delete: operations["node_image_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/containers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the containers that a node's engine has. */
        get: operations["node_container_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/containers/{container}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Remove a container that no run needs from a node's engine. */
        delete: operations["node_container_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/containers/{container}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the files of a container as a tar stream. */
        get: operations["node_container_files"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/tasks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List tasks, newest first; with `watch=true`, stream changes. */
        get: operations["task_list"];
        put?: never;
        /** Submit a task. */
        post: operations["task_submit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/task-batches": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Submit many tasks at once: all of them or none. */
        post: operations["task_submit_batch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/tasks/{task}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a task; with `wait`, answer when it has ended or the time is over. */
        get: operations["task_get"];
        put?: never;
        post?: never;
        /** Remove a task that has ended from the records. */
        delete: operations["task_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/tasks/{task}/kill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a task: its stop signal, then after the grace period SIGKILL. */
        post: operations["task_kill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/tasks/{task}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Freeze a task: it keeps what it holds but gets no processor time. */
        post: operations["task_pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/tasks/{task}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a frozen task go on. */
        post: operations["task_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/tasks/{task}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Put a task that failed, was stopped or lost back into the queue. */
        post: operations["task_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/task-arrays": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List task arrays, newest first. */
        get: operations["array_list"];
        put?: never;
        /** Submit a task array, or with `spec.queue.nodes` a gang: many tasks with one spec. */
        post: operations["array_submit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/task-arrays/{array}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a task array with how many of its tasks are in each state. */
        get: operations["array_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/task-arrays/{array}/kill": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a task array: what waits ends at once, what runs is asked to stop. */
        post: operations["array_kill"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show the queue: what waits, by project, and what is reserved. */
        get: operations["queue_show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/accounts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What tasks used: core-hours, GPU-hours and waits, by project and user. */
        get: operations["account_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/tasks/{task}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a task's output, from the node it ran on; with `follow`, until it ends. */
        get: operations["task_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/tasks/{task}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say why a task is where it is: every reason, for every node. */
        get: operations["task_explain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/tasks/{task}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs of a task, newest first. */
        get: operations["run_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List workloads by name; with `watch=true`, stream changes. */
        get: operations["workload_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads/{workload}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a workload, with how it stands on every node. */
        get: operations["workload_get"];
        /** Apply a spec: makes the workload, or changes the one that `If-Match` names. */
        put: operations["workload_apply"];
        post?: never;
        /** Remove a workload: it is stopped everywhere, and its records go when nothing is left of it. */
        delete: operations["workload_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads/{workload}/start": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a workload run (again). */
        post: operations["workload_start"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads/{workload}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Stop a workload everywhere and keep it stopped. */
        post: operations["workload_stop"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads/{workload}/restart": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Put new runs in place of those that are there. */
        post: operations["workload_restart"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads/{workload}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the runs of a workload on all nodes, newest first. */
        get: operations["workload_run_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads/{workload}/placements": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List where a workload is and how it stands there. */
        get: operations["workload_placement_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads/{workload}/logs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a workload's output from its nodes; with `follow`, from one run into the next. */
        get: operations["workload_logs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads/{workload}/exec": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Run a command beside a workload's live run, as its user, in its directory and environment. */
        post: operations["workload_exec"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads/{workload}/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say why a workload is where it is and stands as it stands: every reason, for every node. */
        get: operations["workload_explain"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads/{workload}/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say when a scheduled workload will run. */
        get: operations["workload_next"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workloads/{workload}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what a workload has used over time on one of its nodes. */
        get: operations["workload_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/nodes/{node}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what a node has used over time. */
        get: operations["node_usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workflows": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List workflows by name, the newest version of each. */
        get: operations["workflow_list"];
        put?: never;
        /** Keep a file: every workflow that it defines gets a new version, unless nothing changed. */
        post: operations["workflow_push"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workflows/{workflow}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a workflow: its newest version, or another one. */
        get: operations["workflow_get"];
        put?: never;
        post?: never;
        /** Remove a workflow with all its versions. Executions go on. */
        delete: operations["workflow_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workflows/{workflow}/source": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the text of a workflow's file and of what it imports. */
        get: operations["workflow_source"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workflows/{workflow}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the versions of a workflow, newest first. */
        get: operations["workflow_version_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/workflows/{workflow}/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Carry a workflow out. */
        post: operations["workflow_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/executions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List executions, newest first. */
        get: operations["execution_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/executions/{execution}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an execution with its steps. */
        get: operations["execution_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/executions/{execution}/output": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what a step gave to others, for every node that it ran on. */
        get: operations["execution_output"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/executions/{execution}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** End an execution: nothing begins any more, and what runs is stopped. */
        post: operations["execution_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/executions/{execution}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Have an execution that is over go on: what did not succeed is done again. */
        post: operations["execution_retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/modules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List modules by name, the newest version of each. */
        get: operations["module_list"];
        put?: never;
        /** Keep a module: it gets a new version, unless nothing changed. */
        post: operations["module_push"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/modules/{module}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a module: its newest version, or another one. */
        get: operations["module_get"];
        put?: never;
        post?: never;
        /** Remove a module with all its versions. Workflows that were kept with it still have it. */
        delete: operations["module_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/modules/{module}/source": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the text of a module and of what it needs. */
        get: operations["module_source"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/modules/{module}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the versions of a module, newest first. */
        get: operations["module_version_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/schedules": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List schedules by name. */
        get: operations["schedule_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/schedules/{schedule}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a schedule, with its last fire. */
        get: operations["schedule_get"];
        /** Make a schedule, or change the one that `If-Match` names. Its target is done in the name of the caller from then on. */
        put: operations["schedule_apply"];
        post?: never;
        /** Remove a schedule with its history. What it made goes on. */
        delete: operations["schedule_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/schedules/{schedule}/pause": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keep a schedule from doing anything until it is resumed. */
        post: operations["schedule_pause"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/schedules/{schedule}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a paused schedule go on from now. */
        post: operations["schedule_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/schedules/{schedule}/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Do now what a schedule is for, in its owner's name. */
        post: operations["schedule_run"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/schedules/{schedule}/next": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Say when a schedule comes next. */
        get: operations["schedule_next"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/schedules/{schedule}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what became of the times of a schedule, newest first. */
        get: operations["schedule_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/schedule-preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say when a schedule like this would come, without making it. */
        post: operations["schedule_preview"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/watchers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List watchers by name. */
        get: operations["watcher_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/watchers/{watcher}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a watcher, and how it stands on its nodes. */
        get: operations["watcher_get"];
        /** Make a watcher, or change the one that `If-Match` names. Nodes look with the rights of the caller from then on: node.inspect, and for commands node.administer. */
        put: operations["watcher_apply"];
        post?: never;
        /** Remove a watcher. Nodes look no more, and what they have not told yet is forgotten. */
        delete: operations["watcher_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/watchers/{watcher}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Have nodes look again. */
        post: operations["watcher_enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/watchers/{watcher}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keep nodes from looking until the watcher is enabled. */
        post: operations["watcher_disable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/blobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List blobs, newest first. */
        get: operations["blob_list"];
        put?: never;
        /** Make a blob of chunks that were sent. */
        post: operations["blob_commit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/chunks/missing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say which chunks would have to be sent. */
        post: operations["chunks_missing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/chunks/{chunk}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Send a chunk: at most 1 MiB, as it is. */
        put: operations["chunk_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/blobs/{blob}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a blob. */
        get: operations["blob_get"];
        put?: never;
        post?: never;
        /** Remove a blob that nothing needs. */
        delete: operations["blob_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/blobs/{blob}/content": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a blob's content. */
        get: operations["blob_content"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/blobs/missing": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say which chunks of what belongs to everybody would have to be sent. */
        post: operations["shared_chunks_missing"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/blobs/chunks/{chunk}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Send a chunk of what belongs to everybody: at most 1 MiB, as it is. */
        put: operations["shared_chunk_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/tasks/{task}/outputs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what the runs of a task left, newest run first. */
        get: operations["task_output_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/secrets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List secrets by environment and name, without their values. */
        get: operations["secret_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/secrets/{secret}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a secret, without its value. */
        get: operations["secret_get"];
        /** Set the value of a secret: 1 byte to 64 KiB, as it is. A value that is current already makes no new version. */
        put: operations["secret_set"];
        post?: never;
        /** Remove a secret with all its versions. */
        delete: operations["secret_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/secrets/{secret}/link": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Have a secret lead to a value in a vault outside, which is asked for when it is needed. */
        put: operations["secret_link"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/vaults": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the vaults that secrets of the project can lead to. */
        get: operations["vault_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/secrets/{secret}/generate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a random value, which is not told, the current one. */
        post: operations["secret_generate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/secrets/{secret}/value": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a value. Every reading is in the audit trail. */
        get: operations["secret_read"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/secrets/{secret}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the versions of a secret, newest first. */
        get: operations["secret_version_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/secrets/{secret}/versions/{version}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Destroy one version for ever; the newest that is left becomes current. */
        delete: operations["secret_version_destroy"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/secrets/rewrap": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Seal everything with the present master key that is sealed with a former one. */
        post: operations["secret_rewrap"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/locks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List locks by name, with those who hold them. */
        get: operations["lock_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/locks/{lock}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a lock: who holds it, who waits, and who held it before. */
        get: operations["lock_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/locks/{lock}/holds/{hold}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Acquire a lock under an id of your own, or find again what a request with this id did; waits for it if asked to. */
        put: operations["lock_acquire"];
        post?: never;
        /** Release a lock, or give a place in its queue back. */
        delete: operations["lock_release"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/locks/{lock}/holds/{hold}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say that a holder is still there; its time counts from now on. */
        post: operations["lock_renew"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/locks/{lock}/force-release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take a lock away from who holds it, with a reason; who waits longest is next. */
        post: operations["lock_force_release"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the event hooks of the whole installation, by name. */
        get: operations["hook_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/{hook}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an event hook of the whole installation. */
        get: operations["hook_get"];
        /** Make or change an event hook of the whole installation. It acts in the name of the caller. */
        put: operations["hook_set"];
        post?: never;
        /** Remove an event hook of the whole installation, with what it had not delivered. */
        delete: operations["hook_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/{hook}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let an event hook of the whole installation hear events again, from now on. */
        post: operations["hook_enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/{hook}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keep an event hook of the whole installation from hearing events. */
        post: operations["hook_disable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/{hook}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deliver one event now, and tell what happened. */
        post: operations["hook_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/{hook}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what an event hook of the whole installation delivered, or is about to, newest first. */
        get: operations["hook_delivery_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/{hook}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deliver again what an event hook of the whole installation gave up. */
        post: operations["hook_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/hooks/{hook}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Forget what an event hook of the whole installation gave up. */
        post: operations["hook_discard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/hooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the event hooks of a project, by name. */
        get: operations["project_hook_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/hooks/{hook}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an event hook of a project. */
        get: operations["project_hook_get"];
        /** Make or change an event hook of a project. It acts in the name of the caller. */
        put: operations["project_hook_set"];
        post?: never;
        /** Remove an event hook of a project, with what it had not delivered. */
        delete: operations["project_hook_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/hooks/{hook}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let an event hook of a project hear events again, from now on. */
        post: operations["project_hook_enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/hooks/{hook}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Keep an event hook of a project from hearing events. */
        post: operations["project_hook_disable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/hooks/{hook}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deliver one event of a project now, and tell what happened. */
        post: operations["project_hook_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/hooks/{hook}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what an event hook of a project delivered, or is about to, newest first. */
        get: operations["project_hook_delivery_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/hooks/{hook}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Deliver again what an event hook of a project gave up. */
        post: operations["project_hook_replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/hooks/{hook}/discard": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Forget what an event hook of a project gave up. */
        post: operations["project_hook_discard"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/state": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the namespaces of a project's state that hold something. */
        get: operations["state_namespace_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/state/{namespace}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List entries by key, or watch what becomes of them. */
        get: operations["state_list"];
        put?: never;
        post?: never;
        /** Empty a namespace. */
        delete: operations["state_namespace_clear"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/state/{namespace}/entry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an entry with its value. */
        get: operations["state_get"];
        put?: never;
        post?: never;
        /** Delete an entry. */
        delete: operations["state_delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/state/{namespace}/value": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a value as it is; the answer's headers have its revision and its time. */
        get: operations["state_value_get"];
        /** Give an entry a value: at most 1 MiB, as it is. */
        put: operations["state_put"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/state/{namespace}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the changes of an entry, newest first, as far as they are kept. */
        get: operations["state_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/state-transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Carry out a transaction: where all conditions hold one list of operations, otherwise another. */
        post: operations["state_commit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/state-stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Open a stream of requests and answers, which stays open. */
        post: operations["state_stream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List operations, newest first. */
        get: operations["operation_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{operation}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show an operation; with `wait`, answer when it has ended or the time is over. */
        get: operations["operation_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/operations/{operation}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ask for an operation to stop after its present step. */
        post: operations["operation_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List events, newest first; with `watch=true`, stream them as they happen. */
        get: operations["event_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/events/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List events, oldest first and without a gap, to be kept elsewhere. */
        get: operations["event_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Tell of an event of one's own, `custom.NAME`. */
        post: operations["event_emit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List or search audit entries, newest first. */
        get: operations["audit_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List audit entries, oldest first and without a gap, to be kept elsewhere. */
        get: operations["audit_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Recompute the whole audit chain, and hold its anchors against it. */
        get: operations["audit_verify"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit/anchors": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List signed anchors of the audit chain, newest first. */
        get: operations["audit_anchor_list"];
        put?: never;
        /** Sign the audit chain as it is now. */
        post: operations["audit_anchor_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/audit/sinks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the sinks that audit entries are delivered to, and how far each has been told. */
        get: operations["audit_sink_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Find what of a project has this name or id, to see its timeline. */
        get: operations["timeline_find"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/timeline/{kind}/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List everything that touched an object of a project, newest first. */
        get: operations["project_timeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/timeline/{kind}/{object}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The same of an object that belongs to no project, such as a node; for those who see the events of the installation. */
        get: operations["timeline_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List stacks, newest first. */
        get: operations["stack_list"];
        put?: never;
        /** Begin to make a stack. */
        post: operations["stack_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a stack: how it stands, its parameters, its outputs. */
        get: operations["stack_get"];
        /** Begin to change a stack to what is given as a whole. Of options, what is absent stays as it is. */
        put: operations["stack_update"];
        post?: never;
        /** Begin to take a stack down with everything that it has made, whatever is under way. */
        delete: operations["stack_remove"];
        options?: never;
        head?: never;
        /** Begin to change a stack in what is given; what is absent stays as it is. */
        patch: operations["stack_patch"];
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/suspend": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Suspend everything of a stack that can be suspended. */
        post: operations["stack_suspend"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Have a suspended stack go on. */
        post: operations["stack_resume"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Look whether every resource of a stack is there and well. */
        post: operations["stack_check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/cancel": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Cancel what is under way: leave the stack as far as it is, or undo an update. */
        post: operations["stack_cancel"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/outputs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read what a stack gives to others. */
        get: operations["stack_output_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List what happened to a stack and its resources, the oldest first; with `watch=true`, stream it as it happens. */
        get: operations["stack_event_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/definition": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the template of a stack with its environment and files, as they are or as they were in a revision. */
        get: operations["stack_definition"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/resources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the resources of a stack in the order of its template, and those of stacks below it. */
        get: operations["stack_resource_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/resources/{resource}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a resource with its properties and attributes; what came from hidden parameters is hidden. */
        get: operations["stack_resource_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show which resources of a stack need which others. */
        get: operations["stack_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/resources/{resource}/signal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Signal a resource that waits for it, or that does something when it is signalled. */
        post: operations["stack_signal"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/resources/{resource}/mark": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say that a resource is broken, so that the next update replaces it, or that it is not. */
        post: operations["stack_mark"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/hooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the hooks at which resources of a stack, and of stacks below it, wait. */
        get: operations["stack_hook_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/resources/{resource}/hooks/{hook}/clear": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Let a resource go on that waits at a hook. */
        post: operations["stack_hook_clear"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-plans": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the plans that are kept, newest first. */
        get: operations["stack_plan_list"];
        put?: never;
        /** Say what a change would do, resource by resource and property by property, and keep that as a plan. */
        post: operations["stack_plan_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-plans/{plan}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a plan. */
        get: operations["stack_plan_get"];
        put?: never;
        post?: never;
        /** Forget a plan. */
        delete: operations["stack_plan_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-plans/{plan}/apply": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin to do what a plan says, once, unless the stack has moved since or the plan has expired. */
        post: operations["stack_plan_apply"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/drift": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show what was found when somebody looked last. */
        get: operations["stack_drift_get"];
        put?: never;
        /** Look at the objects of a stack as they are now, and keep how far they are from what it says. */
        post: operations["stack_drift_detect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-plugins": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List plugins by name, the newest version of each. */
        get: operations["stack_plugin_list"];
        put?: never;
        /** Keep a plugin: a node is asked what it is, and it gets a new version, unless nothing changed. */
        post: operations["stack_plugin_push"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-plugins/{plugin}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a plugin: its newest version, or another one. */
        get: operations["stack_plugin_get"];
        put?: never;
        post?: never;
        /** Remove a plugin with all its versions, or one of them; not while a stack is made with it. */
        delete: operations["stack_plugin_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-plugins/{plugin}/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the versions of a plugin, newest first. */
        get: operations["stack_plugin_version_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/revisions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the revisions of a stack, newest first: one for every change that was complete. */
        get: operations["stack_revision_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/revisions/{revision}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a revision with the resources and outputs of then, secrets too. */
        get: operations["stack_revision_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/snapshots": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the snapshots of a stack. */
        get: operations["stack_snapshot_list"];
        put?: never;
        /** Begin to take a snapshot of a stack. */
        post: operations["stack_snapshot_create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/snapshots/{snapshot}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a snapshot with the resources and outputs of then, secrets too. */
        get: operations["stack_snapshot_get"];
        put?: never;
        post?: never;
        /** Remove a snapshot. */
        delete: operations["stack_snapshot_remove"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/compare": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Compare two points in time of a stack; values that are secret are hidden. */
        get: operations["stack_compare"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Begin to bring a stack back to what it was in a revision or in a snapshot. */
        post: operations["stack_restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read a stack as one document, secrets too, with which it can be taken over elsewhere. */
        get: operations["stack_export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/abandon": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Forget a stack and leave everything that it has made; what is answered is the document to take it over with. */
        post: operations["stack_abandon"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-adopt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Make a stack of what another one left: its resources are taken over instead of being made. */
        post: operations["stack_adopt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/lock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show who holds the lock of a stack. */
        get: operations["stack_lock_get"];
        put?: never;
        post?: never;
        /** Release the lock of a stack that the caller holds. */
        delete: operations["stack_lock_release"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/lock/holds/{hold}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /** Acquire the lock of a stack under an id of your own, or find again what a request with this id did. */
        put: operations["stack_lock_acquire"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/lock/holds/{hold}/renew": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say that who holds the lock of a stack is still there; its time counts from now on. */
        post: operations["stack_lock_renew"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/lock/force-release": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Take the lock of a stack away from who holds it, with a reason. */
        post: operations["stack_lock_force_release"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-template-check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Look at a template without making anything of it. What is wrong is answered as for a stack that is to be made. */
        post: operations["stack_template_check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-checklist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Go through the checklist of every stack of the project, in the order in which they depend on each other. */
        get: operations["stack_checklist_all"];
        put?: never;
        /** Go through the checklist of a change that is not made yet. */
        post: operations["stack_form_check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/checklist": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Go through the checklist of a stack: syntax, dependencies, existence, permissions, lock, disk, network. */
        get: operations["stack_checklist"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stacks/{stack}/dependencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show which stacks a stack uses, and which use it. */
        get: operations["stack_dependencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-dependencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show which stacks of the project use which others, and in what order they can be made. */
        get: operations["stack_dependency_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-dependencies/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Check that what stacks use of others is there: of one stack, or of all. */
        get: operations["stack_dependency_check"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-dependencies/order": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say in what order stacks can be made: each wave after the one before. */
        post: operations["stack_dependency_order"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-types": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the types of resources by name. */
        get: operations["stack_type_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-types/{type}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Show a type: its properties, its attributes, and a template to begin with. */
        get: operations["stack_type_get"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/projects/{project}/stack-editions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the editions of the template language, oldest first. */
        get: operations["stack_edition_list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AccessCheckView: {
            isAllowed: boolean;
            /** @description One sentence. */
            reason: string;
        };
        AccessExplanation: {
            isAllowed: boolean;
            /** @description One sentence. */
            reason: string;
            who: string;
            permission: components["schemas"]["Permission"];
            /** @description What the permission allows. */
            meaning: string;
            /** @description Name of the project; absent for the whole installation. */
            project?: string | null;
            /** @description What gives the permission to them. */
            grants: components["schemas"]["AccessGrantView"][];
            /** @description The limit of a token that stands in the way. */
            limit?: string | null;
            /** @description The first built-in role that has the permission; absent where everybody has it. */
            neededRole?: components["schemas"]["Role"] | null;
            /** @description What would have to be done for it to be allowed. */
            needed?: string | null;
        };
        AccessGrantView: {
            role: string;
            /** @description The group that the role is bound to; absent where it is bound to the user. */
            group?: string | null;
            /** @description Name of the project that the role is bound in; absent for the whole installation. */
            project?: string | null;
        };
        AccessQuery: {
            /** @description Such as `task.submit`. */
            permission: components["schemas"]["Permission"];
            /** @description Name or id of the project; absent for the whole installation. */
            project?: string | null;
            /** @description Name or id of a user, or `token:` and the id of a token; the caller when absent. */
            as?: string | null;
        };
        AccountQuery: {
            /** @description Only this project (name or id). */
            project?: string | null;
            /** @description First day, as 2026-11-01; thirty days ago when absent. */
            from?: string | null;
            /** @description Last day; today when absent. */
            to?: string | null;
        };
        AccountView: {
            project: string;
            user: string;
            /** Format: uint64 */
            tasks: number;
            /** Format: double */
            coreHours: number;
            /** Format: double */
            gpuHours: number;
            /** Format: double */
            memoryGibHours: number;
            /**
             * Format: double
             * @description Mean time between being ready and being started, in seconds.
             */
            waitSecondsMean: number;
            /** Format: double */
            runHours: number;
        };
        /** @description What a step does. */
        Act: "nothing" | {
            command: string;
        } | {
            program: string[];
        } | "function" | "script" | {
            approval: components["schemas"]["ApprovalStep"];
        };
        /** @description What is done. */
        Action: {
            task: components["schemas"]["TaskAction"];
        } | {
            workflow: components["schemas"]["WorkflowAction"];
        } | {
            workload: components["schemas"]["WorkloadAction"];
        } | {
            operation: components["schemas"]["OperationAction"];
        } | {
            http: components["schemas"]["HttpAction"];
        };
        /**
         * @description An action without what belongs to it.
         * @enum {string}
         */
        ActionKind: "task" | "workflow" | "workload" | "operation" | "http";
        /** @description A reference to who did something, as kept in events and audit entries. */
        Actor: {
            /** @description `user`, `service`, `workload`, `node` or `system`. */
            kind: components["schemas"]["ActorKind"];
            /**
             * @description Name of the principal or node; the server's own name for `system`; `project:NAME:workload:NAME`
             *     for what runs.
             */
            name: string;
        };
        /** @enum {string} */
        ActorKind: "user" | "service" | "workload" | "node" | "system";
        /** @description A task that has to end first. */
        After: {
            /** @description Name or id of a task, or of an array (then of all its tasks). */
            task: string;
            /** @default ok */
            on?: components["schemas"]["AfterCondition"];
        };
        /** @description How another task has to have ended. */
        AfterCondition: "ok" | "any" | "fail";
        ApprovalApproveBody: {
            /** @description Why, for the record. */
            reason?: string;
            /** @description What was looked at: it is only agreed to if the request is for that. */
            digest?: string | null;
        };
        ApprovalDecisionView: {
            by: string;
            isApproval: boolean;
            reason?: string;
            /** Format: date-time */
            time: string;
        };
        ApprovalDenyBody: {
            /** @description Why not; who asked is told. */
            reason: string;
        };
        /** Format: uuid */
        ApprovalId: string;
        ApprovalListQuery: {
            /** @description Only those that the caller made. */
            mine?: boolean | null;
            /** @description Only those that the caller can decide on now. */
            toDecide?: boolean | null;
            /** @description Only those in this state. */
            state?: components["schemas"]["ApprovalState"] | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        /** @description What one policy asks for. */
        ApprovalNeedView: {
            /** @description Name of the policy. */
            policy: string;
            /**
             * Format: uint32
             * @description How many people have to agree.
             */
            approvals: number;
            /**
             * Format: uint32
             * @description How many did.
             */
            agreed: number;
            /** @description Who may; empty is whoever has `approval.decide`. */
            by: string[];
        };
        ApprovalPath: {
            /** @description Id of the request. */
            approval: string;
        };
        /** Format: uuid */
        ApprovalPolicyId: string;
        ApprovalPolicyPath: {
            /** @description Name of the policy. */
            policy: string;
        };
        ApprovalPolicyView: {
            id: components["schemas"]["ApprovalPolicyId"];
            name: string;
            /** @description Name of the project; absent for the whole installation. */
            project?: string | null;
            rule: components["schemas"]["ApprovalRule"];
            createdBy: string;
            /** Format: uint64 */
            generation: number;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
        };
        /** @description What needs an approval, and whose. */
        ApprovalRule: {
            /**
             * @description What needs an approval: `task.submit`, `workflow.run`, `workload.apply`, `workload.remove`,
             *     `stack.apply`, `stack.remove`, `node.drain`, `node.remove`, `secret.value`.
             */
            verbs: components["schemas"]["Permission"][];
            /** @description Only where all of this is true; everything when absent. */
            when?: components["schemas"]["ApprovalWhen"];
            /** @description Who needs none: names of users, `group:NAME`, or `role:NAME` for that role and those above it. */
            exempt?: string[];
            /**
             * Format: uint32
             * @description How many people have to agree: 1 or 2.
             * @default 1
             */
            approvals?: number;
            /** @description Who may agree, of those with `approval.decide`; all of them when absent. */
            by?: string[];
            /**
             * @description How long a request waits; a day when absent.
             * @default 1d
             * @example 30s
             * @example 1m30s
             */
            requestTtl?: string;
            /**
             * @description How long an approval can be used; an hour when absent.
             * @default 1h
             * @example 30s
             * @example 1m30s
             */
            approvalTtl?: string;
        };
        ApprovalState: ("denied" | "expired") | "waiting" | "approved" | "used" | "withdrawn" | "void";
        /** @description A step that waits until people have agreed. */
        ApprovalStep: {
            message?: string;
            /**
             * Format: uint32
             * @description How many have to agree.
             * @default 0
             */
            count?: number;
            /** @description Who may agree; whoever may approve in the project when empty. */
            approvers?: string[];
        };
        ApprovalView: {
            id: components["schemas"]["ApprovalId"];
            /** @description Name of the project; absent for the whole installation. */
            project?: string | null;
            /** @description What somebody wants to do... */
            verb: components["schemas"]["Permission"];
            /** @description ...to what. */
            name: string;
            state: components["schemas"]["ApprovalState"];
            requestedBy: string;
            /** @description BLAKE3 of exactly what will be done. */
            digest: string;
            /** @description What will be done, without the values of environments. */
            what: unknown;
            /** @description Tasks that wait for it. */
            tasks?: components["schemas"]["WorkloadId"][];
            /** @description The array that waits for it. */
            array?: components["schemas"]["ArrayId"] | null;
            needs: components["schemas"]["ApprovalNeedView"][];
            decisions: components["schemas"]["ApprovalDecisionView"][];
            /** @description Why it ended, in words. */
            why?: string;
            /** @description Whether the caller can decide on it now. */
            isDecidable: boolean;
            /** Format: uint64 */
            generation: number;
            /** Format: date-time */
            timeCreated: string;
            /**
             * Format: date-time
             * @description Until when it can be decided on, and, once it is approved, used.
             */
            timeExpires: string;
            /** Format: date-time */
            timeEnded?: string | null;
        };
        /** @description Which things a rule is about. What is absent narrows nothing. */
        ApprovalWhen: {
            /** @description Nodes with all of these labels, and what could run on one. */
            nodeLabels?: {
                [key: string]: string;
            };
            /** @description What has one of these tags. */
            tags?: string[];
            /** @description Containers of an image whose name begins with one of these. */
            images?: string[];
            /** @description Privileged containers only. */
            privileged?: boolean;
            /** @description What asks for more cores than this. */
            coresAbove?: number | null;
            /** @description What asks for more memory than this. */
            memoryAbove?: (number | string) | null;
            /**
             * Format: uint32
             * @description What asks for more GPUs than this.
             */
            gpusAbove?: number | null;
        };
        /** Format: uuid */
        ArrayId: string;
        ArrayListQuery: {
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        ArrayPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name or id of the array. */
            array: string;
        };
        ArraySeat: {
            array: components["schemas"]["ArrayId"];
            /** Format: uint32 */
            index: number;
        };
        ArraySubmitBody: {
            /** @description Unique in the project; made from the command when absent. */
            name?: string | null;
            spec: components["schemas"]["WorkloadSpec"];
            /**
             * @description Which indexes, and with `%` how many at once: `1-10000%50`. Absent for a gang.
             * @example 1-1000%50
             */
            range?: string | null;
        };
        ArrayView: {
            id: components["schemas"]["ArrayId"];
            name: string;
            project: string;
            spec: components["schemas"]["WorkloadSpec"];
            /** @example 1-1000%50 */
            range: string;
            /** @description All at the same time on as many nodes, or none. */
            isGang: boolean;
            /** @description True once somebody asked for it to stop. */
            isStopping: boolean;
            /** Format: uint64 */
            size: number;
            /**
             * Format: uint64
             * @description Tasks that have not ended.
             */
            unsettled: number;
            /**
             * Format: uint64
             * @description Tasks that ended otherwise than well.
             */
            unsuccessful: number;
            /** @description How many tasks are in each state. */
            counts: {
                [key: string]: number;
            };
            createdBy: string;
            /** Format: uint64 */
            generation: number;
            /** Format: date-time */
            timeCreated: string;
        };
        /** @description A token for somebody else than Hostler. */
        AudienceToken: {
            /** @description Whom it is for, as they call themselves; nobody else should take it. */
            audience: string;
            /** @description The file that holds it, beside that of `HOSTLER_TOKEN_FILE`. */
            file: string;
        };
        /** @description A signed anchor of the chain. */
        AuditAnchorView: {
            /**
             * Format: uint64
             * @description Number of the entry that was the newest.
             */
            sequence: number;
            /** @description Hex of its hash. */
            hash: string;
            /** Format: date-time */
            time: string;
            /** @description Fingerprint of the authority that signed. */
            authority: string;
            /** @description Hex; ECDSA P-256 with SHA-256. */
            signature: string;
        };
        AuditExportQuery: {
            /**
             * Format: date-time
             * @description From the first entry that is not before this time.
             */
            since?: string | null;
            /**
             * Format: uint64
             * @description Only entries after this number.
             */
            after?: number | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        AuditListQuery: {
            /** @description Only entries of this actor (name). */
            actor?: string | null;
            /** @description Only this action, such as `task.create`; `task.` or `task.*` for all that begin so. */
            action?: string | null;
            /** @description Only about this kind of object. */
            kind?: components["schemas"]["ObjectKind"] | null;
            /** @description Only about the object with this id or name. */
            object?: string | null;
            /** @description Only of this project (name or id). */
            project?: string | null;
            /** @description Only of requests from this address. */
            source?: string | null;
            /**
             * Format: date-time
             * @description Not before this time.
             */
            since?: string | null;
            /**
             * Format: date-time
             * @description Before this time.
             */
            until?: string | null;
            /**
             * @description Only with this text in names, action, request id, address or detail, whatever the case. A page
             *     may be empty although more follow: go on with `nextCursor`.
             */
            text?: string | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        AuditSinkView: {
            name: string;
            /** @description Where it is, without what may be secret in its address. */
            to: string;
            /**
             * Format: uint64
             * @description Every entry up to this one was delivered.
             */
            sequence: number;
            /**
             * Format: uint64
             * @description Entries that wait to be delivered.
             */
            lag: number;
            /** @description Why the last delivery failed; absent when it did not. */
            problem?: string | null;
            /**
             * Format: date-time
             * @description When it was last told, or failed.
             */
            timeModified?: string | null;
        };
        /** @description What `audit verify` found. */
        AuditVerdict: {
            isIntact: boolean;
            /** Format: uint64 */
            entries: number;
            /**
             * Format: uint64
             * @description Number of the first entry that does not fit.
             */
            firstBad?: number | null;
            /** @description What is wrong with it, in words. */
            problem?: string | null;
            /** @description Hex of the newest hash; note it elsewhere to detect a rewritten chain. */
            head: string;
            /**
             * Format: uint64
             * @description How many signed anchors fit the chain.
             * @default 0
             */
            anchors?: number;
        };
        /** @description An audit entry with its place in the chain. */
        AuditView: {
            /** Format: uint64 */
            sequence: number;
            /** Format: date-time */
            time: string;
            actor: components["schemas"]["Actor"];
            action: string;
            object: components["schemas"]["ObjectRef"];
            project?: components["schemas"]["ProjectId"] | null;
            requestId: string;
            source: string;
            detail: unknown;
            /** @description BLAKE3 of the object's state before the change; absent when it is new, or nothing was changed. */
            digestBefore?: string | null;
            /** @description BLAKE3 of the object's state after the change; absent when it is gone. */
            digestAfter?: string | null;
            /** @description Hex of the hash of the entry before; all zeros for the first. */
            hashPrevious: string;
            /** @description Hex. */
            hash: string;
        };
        AuthorityCertificateView: {
            /** @description SHA-256 of the certificate, as `sha256:` and hexadecimal digits. */
            fingerprint: string;
            /** Format: date-time */
            timeExpires: string;
            /** @description In PEM form. */
            certificate: string;
        };
        AuthorityFinishBody: {
            /**
             * @description Although nodes are cut off by it, and have to join again.
             * @default false
             */
            force?: boolean;
        };
        AuthorityNodeView: {
            id: components["schemas"]["NodeId"];
            name: string;
        };
        AuthorityPhase: "stable" | "spreading" | "renewing";
        AuthorityTrustedView: {
            /** @description One certificate after the other, in PEM form; the one that stays comes first. */
            certificates: string;
        };
        AuthorityView: {
            phase: components["schemas"]["AuthorityPhase"];
            /** @description The authority that stays. */
            present: components["schemas"]["AuthorityCertificateView"];
            /** @description The authority that goes, while it does. */
            former?: components["schemas"]["AuthorityCertificateView"] | null;
            /**
             * Format: date-time
             * @description From when on nodes get certificates of the one that stays.
             */
            timeIssues?: string | null;
            /** @description Nodes that have not come with a certificate of the one that stays yet. */
            waiting: components["schemas"]["AuthorityNodeView"][];
            /** @description Authorities that went, newest first; what they signed can still be held against them. */
            retired: components["schemas"]["AuthorityCertificateView"][];
        };
        /**
         * @description How the wait between tries grows.
         * @enum {string}
         */
        Backoff: "fixed" | "linear" | "exponential";
        BackupCreateBody: {
            /** @description How it is sealed; absent when it is not. */
            seal?: components["schemas"]["BackupSeal"] | null;
            /**
             * @description Leave out images, and files that tasks left.
             * @default false
             */
            withoutContent?: boolean;
        };
        /** @description What something in a backup is. */
        BackupFileKind: ("directory" | "file" | "link") | "same";
        BackupFileView: {
            /** @description With the `/` in front; what is no text is shown as well as it can be. */
            path: string;
            kind: components["schemas"]["BackupFileKind"];
            size?: (number | string) | null;
            digest?: string | null;
            /** @description Of a link, or of another name: what it leads to. */
            target?: string | null;
            /** @description In octal digits. */
            mode: string;
            /** Format: uint32 */
            uid: number;
            /** Format: uint32 */
            gid: number;
            /** Format: date-time */
            timeModified: string;
        };
        BackupScheduleView: {
            /** @description Of the server that was asked; absent when it makes none. */
            directory?: string | null;
            /**
             * @example 30s
             * @example 1m30s
             */
            every: string;
            /** Format: uint32 */
            keep: number;
            isSealed: boolean;
            hasMasterKey: boolean;
            hasContent: boolean;
            /** Format: date-time */
            timeLastGood?: string | null;
            /** @description Why the last attempt failed, when it did. */
            problem?: string | null;
            /** Format: date-time */
            timeNext?: string | null;
            isOverdue: boolean;
        };
        /**
         * @description A lock and the key that it was made with: for this one backup only. What they were made of, a passphrase
         *     or a key file, stays with who asks.
         */
        BackupSeal: {
            /** @description The lock, as it stands in the head of the file. */
            lock: unknown;
            /** @description 32 bytes in base64. */
            key: string;
        };
        /** @description How a backup stands. */
        BackupStanding: ("failed" | "under-way") | "verified" | "unverified" | "elsewhere";
        /** @description Something that could not be kept or put back, or not as it was. */
        BackupTrouble: {
            path: string;
            why: string;
        };
        /** @description What came of reading a backup through. */
        BackupVerdict: {
            /** Format: date-time */
            time: string;
            /** @description Absent when everything is there and right. */
            problem?: string | null;
        };
        BackupView: {
            name: string;
            /** @description The server that made it; absent where that is not known. */
            server?: string | null;
            standing: components["schemas"]["BackupStanding"];
            /** Format: uint64 */
            size: number;
            digest?: string | null;
            /** @description Why there is none, or why it cannot be read. */
            problem?: string | null;
            isSealed?: boolean | null;
            hasMasterKey?: boolean | null;
            /** Format: date-time */
            timeCreated: string;
        };
        /** @description One part of the bytes of a backup. */
        BackupVolume: {
            digest: string;
            /** Format: uint64 */
            size: number;
        };
        BlobCommitBody: {
            /** @description Of the whole content. */
            digest: string;
            /**
             * @description What people call it, such as a file name.
             * @default
             */
            label?: string;
            /** @description In the order of the content. */
            chunks: components["schemas"]["ChunkRef"][];
        };
        BlobContentQuery: {
            /**
             * Format: uint64
             * @description Leave out this many bytes at the beginning.
             */
            from?: number | null;
        };
        /** @description What a blob is there for. */
        BlobKind: "file" | "image" | "output" | "backup";
        BlobListQuery: {
            /** @description Only blobs of this kind. */
            kind?: components["schemas"]["BlobKind"] | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        BlobPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Digest of the blob. */
            blob: string;
        };
        BlobView: {
            digest: string;
            /** Format: uint64 */
            size: number;
            kind: components["schemas"]["BlobKind"];
            label: string;
            /** Format: uint32 */
            chunks: number;
            /** @description Absent when a node made it. */
            createdBy?: string | null;
            /** Format: date-time */
            timeCreated: string;
            /**
             * Format: date-time
             * @description When it was last asked for, give or take an hour.
             */
            timeUsed: string;
        };
        /** @description How a phase ended. */
        CareEnd: ("succeeded" | "failed") | "warned" | "skipped" | "released" | "lost";
        /** @description What is done for a stack. */
        CareKind: "lock" | "validate" | "drift" | "snapshot" | "drift-after" | "rollback";
        /** @description How a phase stands. */
        CareStanding: "waiting" | {
            running: {
                /** Format: date-time */
                since: string;
                /** Format: date-time */
                until: string;
            };
        } | {
            held: {
                /** Format: date-time */
                since: string;
                /** Format: date-time */
                renewed: string;
            };
        } | {
            ended: {
                /** Format: date-time */
                since: string;
                /** Format: date-time */
                at: string;
                end: components["schemas"]["CareEnd"];
            };
        };
        /** @description What becomes of times that passed while nothing could be started. */
        CatchUp: "none" | "one" | "all";
        /** @description When a certificate ends: the first of a PEM file to end, or the one that a server shows. */
        CertificateWatch: {
            /** @description A file of the machine. */
            path?: string;
            /** @description HOST:PORT that speaks TLS. */
            address?: string;
            /**
             * @description It is told when no more than this is left.
             * @default 30d
             * @example 30s
             * @example 1m30s
             */
            within?: string;
        };
        /**
         * @description The question: `process`, `{tcp: {port: 80}}`, `{http: {port: 80, path: /}}`, `{exec: [..]}` or
         *     `{log: PATTERN}`.
         */
        Check: "process" | {
            tcp: components["schemas"]["TcpCheck"];
        } | {
            http: components["schemas"]["HttpCheck"];
        } | {
            exec: string[];
        } | {
            log: string;
        };
        ChunkPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Digest of the chunk. */
            chunk: string;
        };
        /** @description One part of a blob. */
        ChunkRef: {
            digest: string;
            /**
             * Format: uint32
             * @description Of the plain bytes.
             */
            size: number;
        };
        ChunksBody: {
            chunks: string[];
        };
        ChunksView: {
            missing: string[];
        };
        /** @description Stable, documented codes; `docs/reference/errors.md` is generated from them. */
        Code: "malformed" | "invalid" | "unauthenticated" | "second-factor-required" | "forbidden" | "not-found" | "no-such-route" | "method-not-allowed" | "already-exists" | "conflict" | "approval-required" | "quota-exceeded" | "stale" | "precondition-required" | "idempotency-key-reused" | "cursor-gone" | "too-large" | "unsupported-media-type" | "rate-limited" | "node-unreachable" | "unavailable" | "internal";
        /** @description What a command says. It is run from its arguments, without a shell. */
        CommandWatch: {
            command: string[];
            /** @description As whom; `nobody` when absent and the agent is root, and as the agent's own user otherwise. */
            user?: string | null;
            /**
             * @description Then it is ended, and has failed.
             * @example 30s
             * @example 1m30s
             */
            timeLimit?: string;
            /** @description `failed`, `recovered`, `changed` (its exit code), `output-changed`, `matches`; the first two when absent. */
            on?: components["schemas"]["WatchCondition"][];
            /** @description For `matches`: a regular expression that fits what it prints. */
            pattern?: string;
        };
        /** @description How a step is undone. */
        Compensation: "function" | {
            command: string;
        };
        /** @description Something that is true or false where the step runs. */
        Condition: {
            always: boolean;
        } | {
            command: string;
        } | "function";
        /**
         * @description The container a workload runs in. Command, environment, user, working directory, limits and
         *     resources are those of the workload.
         */
        Container: {
            /**
             * @description Name and tag, or digest, of an image that the node has or that a registry has; or of one that
             *     Hostler keeps: `hostler://NAME`, `hostler://NAME:VERSION`, `hostler://NAME@DIGEST`.
             * @default
             */
            image?: string;
            /** @default missing */
            pull?: components["schemas"]["PullPolicy"];
            /** @description Replaces the image's entry point; an empty list runs the command alone. */
            entrypoint?: string[] | null;
            /** @description Directories and files of the node. Allowed are only those that the node's agent is configured for. */
            mounts?: components["schemas"]["Mount"][];
            /** @default bridge */
            network?: components["schemas"]["ContainerNetwork"];
            /** @description Everything the node may; needs a project that allows it. */
            privileged?: boolean;
        };
        /** @description What network a container sees. */
        ContainerNetwork: "bridge" | "none" | "host";
        CordonView: {
            reason: string;
            isDraining: boolean;
            /** Format: date-time */
            time: string;
        };
        DeadLetterBody: {
            /**
             * Format: uint64
             * @description Number of the event; all dead letters when absent.
             */
            sequence?: number | null;
        };
        DeadLetterReply: {
            /**
             * Format: uint64
             * @description How many dead letters; more may be left when it is 10,000.
             */
            count: number;
        };
        /**
         * @description What is being done to an object.
         * @enum {string}
         */
        DeedKind: "create" | "update" | "delete" | "suspend" | "resume" | "adopt" | "snapshot" | "check";
        /** @description Where a step runs, when not wherever its execution runs. */
        Delegation: {
            /** @default any */
            targets?: components["schemas"]["Targets"];
            /** @default least-loaded */
            strategy?: components["schemas"]["PickStrategy"];
            /** @description Runs where the execution runs when no node can be had. */
            fallback?: boolean;
        };
        /** @description What becomes of the object when its resource goes. */
        DeletionPolicy: "delete" | "retain" | "snapshot";
        /** @description What is done about a call of which nobody knows whether it was made. */
        Delivery: "at-least-once" | "at-most-once";
        DeliveryQuery: {
            /** @description Only those in this state. */
            state?: components["schemas"]["DeliveryState"] | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        /** @description How far a delivery is. */
        DeliveryState: "done" | "queued" | "ready" | "performing" | "following" | "dead";
        /** @description One event for one hook. */
        DeliveryView: {
            /** @description What the receiver knows it by; the same however often it is tried. */
            id: string;
            /**
             * Format: uint64
             * @description Of the event.
             */
            sequence: number;
            event: unknown;
            state: components["schemas"]["DeliveryState"];
            /**
             * Format: uint32
             * @description Tries that failed.
             */
            attempts: number;
            /** @description Why the last try failed, or what came of it. */
            note?: string;
            /**
             * Format: uint16
             * @description What the receiver answered with.
             */
            status?: number | null;
            /** @description What was begun and is not over yet, or how it ended. */
            made?: components["schemas"]["ObjectRef"] | null;
            /**
             * Format: date-time
             * @description When it is tried or looked at next, while it is open.
             */
            timeDue?: string | null;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeEnded?: string | null;
        };
        /** @description Another workload on the same node that has to be somewhere first. */
        Dependency: {
            workload: string;
            /** @default started */
            condition?: components["schemas"]["DependencyCondition"];
        };
        /** @description How far the other one has to be. */
        DependencyCondition: "started" | "healthy" | "completed";
        /** @description What should become of a workload or placement. */
        Desired: "run" | "pause" | "stop" | "remove";
        DiagnosisView: {
            /** @description The worst of the findings. */
            worst: components["schemas"]["Severity"];
            findings: components["schemas"]["Finding"][];
        };
        /** @description One mistake in what a user wrote, with where it is. */
        Diagnostic: {
            /** @description JSON pointer (RFC 6901) to the value, empty for the whole document. */
            pointer: string;
            detail: string;
        };
        /** @description The entries of a directory. */
        DirectoryWatch: {
            path: string;
            /** @description `created`, `changed`, `removed`; all of them when absent. */
            on?: components["schemas"]["WatchCondition"][];
            /** @description Whether what is below it counts too, up to ten thousand entries; links are not followed. */
            recursive?: boolean;
            /** @description Only entries with such names: `*` is anything, `?` one character. */
            pattern?: string;
        };
        DiscoveryView: {
            issuer: string;
            jwks_uri: string;
            response_types_supported: string[];
            subject_types_supported: string[];
            id_token_signing_alg_values_supported: string[];
            claims_supported: string[];
        };
        DiskFact: {
            /** @default  */
            mount?: string;
            /** @default  */
            device?: string;
            /** @default  */
            filesystem?: string;
            /** @default 0 */
            size?: number | string;
            /** @default 0 */
            available?: number | string;
        };
        DiskHealthFact: {
            /**
             * @description Such as `mmcblk0` or `nvme0`.
             * @default
             */
            device?: string;
            /**
             * @description `emmc`, `sd` or `nvme`.
             * @default
             */
            kind?: string;
            /** @default  */
            model?: string;
            /**
             * Format: uint8
             * @description At most this share of its life is used up, in percent; above 100 it has outlived its estimate.
             */
            lifeUsed?: number | null;
            /** @description How its spare blocks are: `normal`, `warning` (four fifths used) or `urgent` (nine tenths). */
            spare?: string | null;
            /** @description The controller's state as the kernel sees it; `live` is well. */
            state?: string | null;
            /**
             * Format: double
             * @description Degrees Celsius.
             */
            celsius?: number | null;
        };
        /** @description How full the file system is that a path is on, in percent. */
        DiskWatch: {
            path?: string;
            /** Format: double */
            above?: number | null;
            /** Format: double */
            below?: number | null;
            /**
             * @description It has to be so at every look for this long.
             * @example 30s
             * @example 1m30s
             */
            for?: string;
            /**
             * Format: double
             * @description Where it counts as over, so that a figure that goes up and down around the threshold is told once: 5 on the
             *     other side of it when absent, or a tenth of it for the load.
             */
            clear?: number | null;
        };
        /** @description What somebody tells of. */
        EventEmitBody: {
            /** @description `custom.NAME`: up to 120 characters, words of letters, digits, `_` and `-` with dots between them. */
            kind: components["schemas"]["EventName"];
            /** @description One sentence for people. */
            message?: string;
            /** @description Anything for programs, of up to 16 KiB as JSON. */
            payload?: unknown;
        };
        EventExportQuery: {
            /** @description Only events of this project (name or id). */
            project?: string | null;
            /** @description Only events of this kind, such as `task.failed` or `custom.deploy`, or of all of a noun: `lock.*`. */
            kind?: string | null;
            /** @description Only events about this kind of object... */
            object?: components["schemas"]["ObjectKind"] | null;
            /** @description ...with this id. */
            id?: string | null;
            /** @description Only events about objects with this name. */
            name?: string | null;
            /** @description Only what was caused by this, as in a list. */
            cause?: string | null;
            /** @description Only events of which this holds, as in a list. */
            filter?: string | null;
            /**
             * Format: date-time
             * @description Not before this time; from the oldest that is kept when absent. Refused when some since then are gone.
             */
            since?: string | null;
            /**
             * Format: date-time
             * @description Before this time.
             */
            until?: string | null;
            /**
             * Format: uint64
             * @description Only events after this number. Refused when some after it are gone.
             */
            after?: number | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100). A page may be empty although more follow.
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        /** @description What somebody wrote about a hook. */
        EventHookSpec: {
            description?: string;
            /** @description Which events: exact kinds (`task.failed`), all of a noun (`task.*`), or all (`*`). */
            on: string[];
            /** @description Only those of which this holds, such as `payload.exitCode > 1`. */
            filter?: string;
            action: components["schemas"]["HookAction"];
            /** @description Of a hook of the whole installation: where its tasks run and its secrets are. */
            project?: string | null;
            /**
             * Format: uint32
             * @description Deliveries at the same time, on all servers together.
             */
            atOnce?: number;
            retry?: components["schemas"]["HookRetry"];
            /**
             * @description How long one try may take; 10 s for a webhook and 1 h for anything else, when absent.
             * @example 30s
             * @example 1m30s
             */
            timeLimit?: string | null;
            /** @description What becomes of later events about an object when one about it could not be delivered. */
            onDead?: components["schemas"]["OnDead"];
            /**
             * Format: uint32
             * @description How many times over the hook may answer to what it caused itself.
             */
            loopDepth?: number;
        };
        /** @description Every kind of event; `docs/reference/events.md` is generated from this list. */
        EventKind: "node.joined" | "node.online" | "node.stale" | "node.offline" | "node.cordoned" | "node.uncordoned" | "node.reloaded" | "node.changed" | "node.gpu-trouble" | "node.gpu-well" | "node.image-removed" | "node.image-trouble" | "node.administered" | "node.administer-failed" | "node.backed-up" | "node.backup-failed" | "node.backup-damaged" | "node.backup-removed" | "node.restored" | "node.restore-failed" | "node.removed" | "identity.keys-changed" | "image.added" | "image.removed" | "approval.requested" | "approval.approved" | "approval.denied" | "approval.expired" | "approval.used" | "approval.withdrawn" | "approval.void" | "approval.break-glass" | "approval-policy.created" | "approval-policy.changed" | "approval-policy.removed" | "audit.anchored" | "audit.sink-trouble" | "audit.sink-well" | "authority.rotation-begun" | "authority.rotation-aborted" | "authority.rotated" | "custom" | "hook.created" | "hook.changed" | "hook.removed" | "hook.dead-letter" | "hook.loop-cut" | "backup.created" | "backup.failed" | "backup.restored" | "invitation.created" | "invitation.accepted" | "invitation.refused" | "invitation.revoked" | "join.refused" | "lock.expired" | "lock.forced" | "login.throttled" | "operation.created" | "operation.progressed" | "operation.ended" | "project.created" | "project.changed" | "project.removed" | "role.created" | "role.changed" | "role.removed" | "group.created" | "group.changed" | "group.removed" | "schedule.created" | "schedule.changed" | "schedule.paused" | "schedule.resumed" | "schedule.removed" | "schedule.fired" | "schedule.failed" | "schedule.missed" | "secret.created" | "secret.rotated" | "secret.linked" | "secret.destroyed" | "secret.removed" | "secret.unopened" | "secret.rewrapped" | "stack.created" | "stack.begun" | "stack.completed" | "stack.failed" | "stack.removed" | "stack.paused" | "stack.hook-cleared" | "stack.signalled" | "stack.marked" | "stack.drifted" | "state.cleared" | "server.started" | "server.stopped" | "token.exposed" | "task.created" | "task.assigned" | "task.started" | "task.completed" | "task.failed" | "task.kill-requested" | "task.killed" | "task.oom" | "task.stopped" | "task.paused" | "task.resumed" | "task.pause-requested" | "task.retried" | "task.approval-requested" | "task.rejected" | "array.created" | "array.kill-requested" | "task.lost" | "task.found" | "task.removed" | "user.reset-issued" | "user.reset-used" | "user.second-factor-on" | "user.second-factor-off" | "user.recovery-code-used" | "user.linked" | "user.unlinked" | "user.sessions-ended" | "watcher.created" | "watcher.changed" | "watcher.removed" | "watcher.fired" | "watcher.cleared" | "watcher.trouble" | "workflow.pushed" | "workflow.removed" | "module.pushed" | "module.removed" | "stack-plugin.pushed" | "stack-plugin.removed" | "execution.created" | "execution.step-started" | "execution.step-ended" | "execution.step-retried" | "execution.step-waits" | "execution.step-undone" | "execution.phase" | "execution.cancel-requested" | "execution.retried" | "execution.succeeded" | "execution.failed" | "workload.created" | "workload.changed" | "workload.start-requested" | "workload.stop-requested" | "workload.restart-requested" | "workload.remove-requested" | "workload.removed" | "workload.placed" | "workload.unplaced" | "workload.started" | "workload.restarted" | "workload.stopped" | "workload.completed" | "workload.failed" | "workload.crash-loop" | "workload.oom" | "workload.vanished" | "workload.unhealthy" | "workload.healthy" | "workload.fire-missed" | "workload.runs-untold";
        EventListQuery: {
            /** @description Only events of this project (name or id). */
            project?: string | null;
            /** @description Only events of this kind, such as `task.failed` or `custom.deploy`, or of all of a noun: `lock.*`. */
            kind?: string | null;
            /** @description Only events about this kind of object... */
            object?: components["schemas"]["ObjectKind"] | null;
            /** @description ...with this id. */
            id?: string | null;
            /** @description Only events about objects with this name. */
            name?: string | null;
            /**
             * @description Only what was caused by this: the id of a request, `execution/ID`, `task/ID`, `workload/ID`, `fire/ID/TIME` or
             *     `hook/ID/NUMBER`; by all that begin so, where it ends with a `/`.
             */
            cause?: string | null;
            /**
             * Format: date-time
             * @description Not before this time; not with `watch`.
             */
            since?: string | null;
            /**
             * Format: date-time
             * @description Before this time; not with `watch`.
             */
            until?: string | null;
            /**
             * @description Only events of which this holds, such as `payload.exitCode > 1 and object.name startsWith "web"`. A page
             *     may be empty although more follow: go on with `nextCursor`.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before; with `watch`, the `watchCursor` of a list or of the last message seen. */
            cursor?: string | null;
            /** @description Stream events instead of listing. */
            watch?: boolean | null;
        };
        /** @description A kind of event: one of ours, or `custom.NAME`. */
        EventName: components["schemas"]["EventKind"] | string;
        EventView: {
            /** Format: uint64 */
            sequence: number;
            kind: components["schemas"]["EventName"];
            /** Format: date-time */
            time: string;
            project?: components["schemas"]["ProjectId"] | null;
            /** @description Name of the project, while there is one. */
            project_name?: string | null;
            object: components["schemas"]["ObjectRef"];
            actor: components["schemas"]["Actor"];
            message: string;
            /** @description The same for programs, and more; what there is depends on the kind. */
            payload?: unknown;
            /** @description What caused it: the id of a request, or an execution, a task or a delivery of a hook. */
            correlation?: string | null;
        };
        /** @description One line of the answer to `workload_exec`. The last is `exit` or `broken`. */
        ExecLine: {
            /** @constant */
            type: "data";
            stream: components["schemas"]["OutputStream"];
            /** Format: date-time */
            time: string;
            data: string;
        } | {
            /** @constant */
            type: "gap";
            detail: string;
        } | {
            /** @constant */
            type: "exit";
            /** Format: int32 */
            code?: number | null;
            /** Format: int32 */
            signal?: number | null;
            isTimedOut: boolean;
        } | {
            /** @constant */
            type: "broken";
            detail: string;
        };
        /** Format: uuid */
        ExecutionId: string;
        ExecutionListQuery: {
            /** @description Only of this workflow. */
            workflow?: string | null;
            /** @description Only those that are not over, or only those that are. */
            open?: boolean | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        /** @description What an execution was asked for with. */
        ExecutionOptions: {
            /** @description Only these steps and what they depend on; all when empty. */
            only?: string[];
            /** @description Nodes on which steps run that do not say it themselves. */
            delegateTo?: string[];
            /** @description Secrets that bodies can ask for by name. */
            secrets?: string[];
            /**
             * Format: uint32
             * @description How many steps run at once where the workflow does not say it.
             */
            atOnce?: number | null;
            /** @description Name of the stack that it is about, instead of the one that the workflow names. */
            stack?: string | null;
        };
        ExecutionOutputQuery: {
            /** @description Name of the step. */
            step: string;
        };
        ExecutionPath: {
            /** @description Name or id of the project. */
            project: string;
            execution: components["schemas"]["ExecutionId"];
        };
        /** @description One thing that an execution does for its stack. */
        ExecutionPhaseView: {
            /** @description `lock`, `validate`, `drift`, `snapshot`, `drift-after` or `rollback`. */
            phase: components["schemas"]["CareKind"];
            /** @description `waiting`, `running`, `held`, `succeeded`, `warned`, `failed`, `skipped`, `released` or `lost`. */
            status: string;
            standing: components["schemas"]["CareStanding"];
            /** @description What it found, or what it waits for. */
            message?: string;
        };
        ExecutionRetryBody: {
            /** @description From this step on: it, and everything that depends on it, is done again even where it succeeded. */
            from?: string | null;
            /**
             * @description Do again what was under way when its node was lost, although it may have been done.
             * @default false
             */
            uncertain?: boolean;
        };
        /** @description What an execution does for the stack that it is about. */
        ExecutionStackView: {
            name: components["schemas"]["StackName"];
            /** @description In their order. */
            phases: components["schemas"]["ExecutionPhaseView"][];
            /** @description The snapshot that was taken before the first step. */
            snapshot?: components["schemas"]["StackSnapshotId"] | null;
            /** @description The hold of its lock, while it has one. */
            hold?: components["schemas"]["LockHoldId"] | null;
            /** @description Why the execution ended although nobody asked for it. */
            failure?: string | null;
        };
        /** @description A step of an execution. */
        ExecutionStepView: {
            name: string;
            /** @description `waiting`, `running`, `resting`, `succeeded`, `failed`, `skipped`... */
            status: string;
            standing: components["schemas"]["Standing"];
            /** Format: uint32 */
            tries: number;
            message?: string;
            changed?: boolean | null;
            dependsOn: string[];
            /** @description Tasks that carried it out, the newest first. */
            tasks?: components["schemas"]["StepTaskView"][];
            /** @description Files that it left for others. */
            artifacts?: string[];
            isUndone?: boolean;
            /** @description What it waits for, or waited for. */
            approval?: components["schemas"]["ApprovalId"] | null;
            /** Format: date-time */
            timeStarted?: string | null;
            /** Format: date-time */
            timeEnded?: string | null;
        };
        /** @description An execution of a workflow. */
        ExecutionView: {
            id: components["schemas"]["ExecutionId"];
            workflow: string;
            /** Format: uint32 */
            version: number;
            /** @description `preparing`, `beginning`, `running`, `settling`, `finishing` or `ended`. */
            state: string;
            /** @description `succeeded`, `failed`, `timed-out` or `cancelled`, once that is known. */
            outcome?: string | null;
            isCancelRequested: boolean;
            createdBy: string;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeEnded?: string | null;
            options: components["schemas"]["ExecutionOptions"];
            values?: unknown;
            /** @description What is done for its stack, where something is. */
            stack?: components["schemas"]["ExecutionStackView"] | null;
            /** @description In the order of the definition; empty in lists. */
            steps?: components["schemas"]["ExecutionStepView"][];
            /** @description What steps gave out with `export`, by name. */
            outputs?: unknown;
        };
        Exit: {
            reason: components["schemas"]["ExitReason"];
            /**
             * Format: int32
             * @description Exit code, when the program returned one.
             */
            code?: number | null;
            /**
             * Format: int32
             * @description Signal number, when a signal ended it.
             */
            signal?: number | null;
            message?: string | null;
            /** Format: date-time */
            time: string;
        };
        /** @description Why a run is over. */
        ExitReason: "exited" | "stopped" | "timed-out" | "out-of-memory" | "unhealthy" | "start-failed" | "given-up" | "vanished";
        /** @description Why a task is where it is. */
        Explanation: {
            state: components["schemas"]["TaskStateKind"];
            /** @description One sentence. */
            summary: string;
            /** @description For a task that waits: every node with every reason against it. */
            nodes: components["schemas"]["NodeExplanation"][];
            /** @description What would help. */
            hints: string[];
            /** @description What the node that it was given to does for it now: inputs or an image on their way, or outputs. */
            readiness?: components["schemas"]["Readiness"] | null;
            /** @description Id of the trace that it was submitted in. */
            trace?: string | null;
        };
        Facts: {
            /** @default  */
            hostname?: string;
            /**
             * @description Distribution and version, as in os-release's PRETTY_NAME.
             * @default
             */
            os?: string;
            /** @default  */
            kernel?: string;
            /** @default  */
            architecture?: string;
            /**
             * @description Identifies the present boot of the machine.
             * @default
             */
            bootId?: string;
            /** @default  */
            machineId?: string;
            /**
             * @description What `timezone: local` means there, by its name in the time zone database; absent when it has
             *     none, or the agent is older than this.
             * @default null
             */
            timezone?: string | null;
            /**
             * @description What may be reserved on the node.
             * @default 0
             */
            cores?: number;
            /** @default  */
            cpuModel?: string;
            /** @default 0 */
            memory?: number | string;
            /** @default 0 */
            swap?: number | string;
            /** @default [] */
            numa?: components["schemas"]["NumaFact"][];
            /** @default [] */
            disks?: components["schemas"]["DiskFact"][];
            /** @default [] */
            addresses?: string[];
            /**
             * @description `v2`, `hybrid`, `v1` or `none`.
             * @default
             */
            cgroup?: string;
            /**
             * @description Container engine and its version, when one answers.
             * @default null
             */
            containerEngine?: string | null;
            /** @default [] */
            gpus?: components["schemas"]["GpuFact"][];
            /**
             * @description What each sensor showed when the facts were collected.
             * @default []
             */
            temperatures?: components["schemas"]["TemperatureFact"][];
            /**
             * @description What disks say about their own wear, those that say anything.
             * @default []
             */
            diskHealth?: components["schemas"]["DiskHealthFact"][];
            /**
             * @description The agent was told that its link is paid for by what it carries; it sends less.
             * @default false
             */
            isMetered?: boolean;
            /**
             * @description Whether the agent runs as root (and so can run tasks as other users).
             * @default false
             */
            isRoot?: boolean;
        };
        /** @description A figure that is kept over time. */
        Figure: ("nodes.online" | "nodes.stale" | "nodes.offline" | "tasks.pending" | "tasks.assigning" | "tasks.running" | "tasks.paused" | "queue.wait-most" | "cpu.used" | "cpu.total" | "memory.used" | "memory.total" | "gpu.used" | "gpu.total") | "tasks.ended" | "queue.wait" | "api.requests" | "api.errors" | "api.latency" | "api.latency-p95";
        FigureSeriesView: {
            name: components["schemas"]["Figure"];
            unit: components["schemas"]["FigureUnit"];
            /** @description Absent where there was nothing to measure. */
            values: (number | null)[];
        };
        /**
         * @description What a figure is measured in.
         * @enum {string}
         */
        FigureUnit: "count" | "per-second" | "seconds" | "cores" | "bytes";
        /** @description A file, by its size, times and kind; what is in it is never told. */
        FileWatch: {
            path: string;
            /** @description `created`, `changed`, `removed`; all of them when absent. */
            on?: components["schemas"]["WatchCondition"][];
            /** @description Whether what is in it decides if it was changed, instead of its times; up to 64 MiB. */
            hash?: boolean;
        };
        /** @description One thing that was looked at. */
        Finding: {
            /** @description What was looked at: `database`, `nodes`. */
            check: string;
            severity: components["schemas"]["Severity"];
            /** @description In one sentence. */
            what: string;
            /** @description What follows from it. */
            why?: string;
            /** @description How it was seen. */
            evidence?: string[];
            /** @description What to do: a command, or words. */
            next?: string;
            fix?: components["schemas"]["Fix"] | null;
        };
        /** @description Why something was, or was not, done. */
        FireCause: "planned" | "caught-up" | "manual" | "outage" | "overlap" | "too-many";
        /** @description What is special about a time, where clocks are changed. */
        FireRemark: "skipped" | "first-of-two" | "twice" | "changed";
        /** @enum {string} */
        FireState: "begun" | "done" | "failed" | "uncertain" | "missed";
        /** @description A time at which a schedule starts its workload. */
        FireView: {
            /**
             * Format: date-time
             * @description When the schedule says; names the run.
             */
            time: string;
            /**
             * Format: date-time
             * @description When the run begins: the same, put off by the node's share of the jitter. Absent while it is on no
             *     node.
             */
            start?: string | null;
            /**
             * @description Where, by name.
             * @default []
             */
            nodes?: string[];
        };
        /** @description What can be done about a finding without risk; `hostler doctor --fix` does it. */
        Fix: "backup-now" | "audit-anchor" | "tighten-key";
        /**
         * Format: uint64
         * @description A counter that only grows. Starts at 0 ("nothing yet"); the first content has 1.
         */
        Generation: number;
        /** @description What a run was given of its node. */
        GivenView: {
            cores: number;
            memory: number | string;
            disk?: number | string;
            /** @description Processors of its own, in Linux list form. */
            cpus?: string;
            /**
             * Format: uint32
             * @description The NUMA node it is bound to.
             */
            numa?: number | null;
            gpus?: components["schemas"]["GpuHeldView"][];
        };
        GpuFact: {
            /**
             * Format: uint32
             * @default 0
             */
            index?: number;
            /** @default  */
            uuid?: string;
            /** @default  */
            model?: string;
            /** @default 0 */
            memory?: number | string;
            /** @default  */
            driver?: string;
            /**
             * Format: uint32
             * @description The NUMA node it is next to, where that is known.
             */
            numa?: number | null;
            /** @description Why it is out of service, such as `Xid 79: GPU has fallen off the bus`; nothing is given it then. */
            trouble?: string | null;
        };
        GpuHeldView: {
            /** Format: uint32 */
            index: number;
            /**
             * Format: double
             * @description How much of it; 1 is all.
             */
            share: number;
        };
        /** @description How busy a GPU is, as far as it tells. */
        GpuMetrics: {
            /**
             * Format: uint32
             * @description Its number on the node.
             * @default 0
             */
            index?: number;
            /**
             * Format: double
             * @description Share of the time in which something ran on it, 0 to 1.
             */
            utilisation?: number | null;
            /** @default 0 */
            memoryUsed?: number | string;
            /**
             * Format: double
             * @description Degrees Celsius.
             */
            temperature?: number | null;
            /**
             * Format: double
             * @description Watts.
             */
            power?: number | null;
            /**
             * Format: uint32
             * @description Processes that compute on it, whoever started them.
             * @default 0
             */
            processes?: number;
            /**
             * Format: uint64
             * @description Errors that its driver has told of since the agent started.
             * @default 0
             */
            errors?: number;
        };
        GpuRequest: number | components["schemas"]["GpuRequest2"];
        /** @description The object form, as it is read and written. */
        GpuRequest2: {
            /**
             * Format: uint32
             * @description How many; as many as `ids` names when that is given.
             */
            count?: number | null;
            /**
             * Format: double
             * @description How much of each, more than 0 and at most 1; others may have the rest.
             */
            share?: number | null;
            /** @description Exactly these, by their numbers on the node. */
            ids?: number[];
            /** @description Only where the model's name contains this, whatever the case. */
            model?: string | null;
            /** @description Only with at least this much memory. */
            memory?: number | string;
        };
        GroupCreateBody: {
            name: string;
            /** @default  */
            description?: string;
            /** @description Names or ids of those who are in it from the start. */
            members?: string[];
        };
        /** Format: uuid */
        GroupId: string;
        GroupMemberPath: {
            /** @description Name or id of the group. */
            group: string;
            /** @description Name or id of the user. */
            user: string;
        };
        GroupPath: {
            /** @description Name or id of the group. */
            group: string;
        };
        GroupRoleView: {
            role: string;
            /** @description Name of the project; absent for the whole installation. */
            project?: string | null;
        };
        /** @description What is absent stays as it is. */
        GroupUpdateBody: {
            description?: string | null;
            /** @description New role on the whole installation; `none` takes it away. */
            role?: string | null;
        };
        GroupView: {
            id: components["schemas"]["GroupId"];
            name: string;
            description: string;
            /** @description Names of those who are in it. */
            members: string[];
            /** @description Roles bound to it. */
            roles: components["schemas"]["GroupRoleView"][];
            /** Format: uint64 */
            generation: number;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
        };
        /** @description When a function of the definition is called besides that of the step. */
        Handler: ("before" | "after" | "success" | "failure" | "timeout" | "retry" | "skip" | "start" | "complete" | "step-start" | "step-complete") | "clean-workdir";
        /**
         * @description What the health checks of a run say.
         * @enum {string}
         */
        Health: "healthy" | "unhealthy";
        /** @description A question asked again and again of a run. */
        HealthCheck: {
            check: components["schemas"]["Check"];
            /**
             * @description From one question to the next.
             * @default 10s
             * @example 30s
             * @example 1m30s
             */
            interval?: string;
            /**
             * @description No answer in this time is a bad one.
             * @default 2s
             * @example 30s
             * @example 1m30s
             */
            timeout?: string;
            /**
             * @description Bad answers do not count in the first time of a run, until the first good one.
             * @example 30s
             * @example 1m30s
             */
            startPeriod?: string;
            /**
             * Format: uint32
             * @description So many good answers in a row make it healthy.
             * @default 1
             */
            healthyAfter?: number;
            /**
             * Format: uint32
             * @description So many bad answers in a row make it unhealthy.
             * @default 3
             */
            unhealthyAfter?: number;
            /**
             * @description What follows when it becomes unhealthy.
             * @default restart
             */
            onUnhealthy?: components["schemas"]["OnUnhealthy"];
        };
        /**
         * @description How well something is; later is worse.
         * @enum {string}
         */
        HealthLevel: "ok" | "warning" | "critical";
        HealthView: {
            /** @description `ok`, or what is wrong. */
            status: string;
            /** @description Each check with `ok` or what is wrong. */
            checks: {
                [key: string]: string;
            };
        };
        Hook: {
            /** @description Program and arguments, run as they stand. */
            command: string[];
            /**
             * @description It is killed when it takes longer, and counts as failed.
             * @default 30s
             * @example 30s
             * @example 1m30s
             */
            timeout?: string;
        };
        /** @description What a hook does with an event. */
        HookAction: {
            lua: components["schemas"]["LuaAction"];
        } | {
            webhook: components["schemas"]["WebhookAction"];
        } | {
            task: components["schemas"]["TaskAction"];
        } | {
            workflow: components["schemas"]["WorkflowAction"];
        } | {
            workload: components["schemas"]["WorkloadAction"];
        } | {
            operation: components["schemas"]["OperationAction"];
        };
        /** Format: uuid */
        HookId: string;
        HookPath: {
            /** @description Name of the hook. */
            hook: string;
        };
        /** @description How often and how soon a delivery is tried again. */
        HookRetry: {
            /**
             * Format: uint32
             * @description Tries in all; 1 is no second one.
             * @default 10
             */
            attempts?: number;
            /**
             * @description Before the second try at least; the wait doubles from then on, with chance in it.
             * @default 1s
             * @example 30s
             * @example 1m30s
             */
            min?: string;
            /**
             * @description Between two tries at most.
             * @default 1h
             * @example 30s
             * @example 1m30s
             */
            max?: string;
            /**
             * @description Since the event; what was not delivered by then is given up, tried or not.
             * @default 1d
             * @example 30s
             * @example 1m30s
             */
            giveUpAfter?: string;
        };
        HookTestBody: {
            /**
             * Format: uint64
             * @description Number of the event.
             */
            sequence: number;
        };
        /** @description What a test did. */
        HookTestView: {
            /** @description Whether the hook would have taken the event by itself. */
            isMatch: boolean;
            isDone: boolean;
            /** @description What came of it, or why not. */
            note: string;
            /** Format: uint16 */
            status?: number | null;
            made?: components["schemas"]["ObjectRef"] | null;
        };
        HookView: {
            id: components["schemas"]["HookId"];
            name: string;
            /** @description Name of the project; absent for the whole installation. */
            project?: string | null;
            /** @description Values of headers and of environments are shown to the owner, and to who may manage hooks. */
            spec: components["schemas"]["EventHookSpec"];
            /** @description What it does, in a few words. */
            summary: string;
            isEnabled: boolean;
            /** @description In whose name it acts. */
            owner: string;
            /** @description How many deliveries are in each state. */
            deliveries: {
                [key: string]: number;
            };
            /** Format: uint64 */
            generation: number;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
        };
        /**
         * @description Commands run beside the program, as the same user and in the same place; their output is among
         *     the run's own.
         */
        Hooks: {
            /** @description Before the program; when it fails, the program is not started. */
            preStart?: components["schemas"]["Hook"] | null;
            /** @description After the program was started. */
            postStart?: components["schemas"]["Hook"] | null;
            /** @description When the run is to stop, before its stop signal. */
            preStop?: components["schemas"]["Hook"] | null;
            /** @description After the program has ended, however it did. */
            postStop?: components["schemas"]["Hook"] | null;
        };
        /** @description One difference. Absent before means that it was not there, absent after that it is gone. */
        HostChange: {
            what: string;
            before?: string | null;
            after?: string | null;
        };
        /** @description Something to be done to a machine. */
        HostDeed: {
            /** @constant */
            do: "packages-install";
            names: string[];
            /**
             * @description Fetch the lists of packages anew before.
             * @default false
             */
            refresh?: boolean;
        } | {
            /** @constant */
            do: "packages-remove";
            names: string[];
            /**
             * @description Take files of the configuration too, where the package manager can.
             * @default false
             */
            purge?: boolean;
        } | {
            /** @constant */
            do: "packages-upgrade";
            /** @default [] */
            names?: string[];
        } | {
            /** @constant */
            do: "packages-refresh";
        } | {
            /** @constant */
            do: "service";
            name: string;
            verb: components["schemas"]["ServiceVerb"];
        } | {
            /** @constant */
            do: "signal";
            /** Format: uint32 */
            pid: number;
            /**
             * Format: uint64
             * @description As the list of processes told it.
             */
            startTicks: number;
            /** @description As the list of processes told it. */
            name: string;
            signal: components["schemas"]["ProcessSignal"];
        } | {
            /** @constant */
            do: "user-add";
            /** @default  */
            name?: string;
            /** Format: uint32 */
            uid?: number | null;
            /** @description The primary group. */
            group?: string | null;
            /** @description Beside the primary one. */
            groups?: string[];
            home?: string | null;
            shell?: string | null;
            comment?: string | null;
            /**
             * @description One of the machine's own, with a low number and no home.
             * @default false
             */
            system?: boolean;
        } | {
            /** @constant */
            do: "user-remove";
            name: string;
            /**
             * @description Take the home too.
             * @default false
             */
            home?: boolean;
        } | {
            /** @constant */
            do: "user-lock";
            name: string;
        } | {
            /** @constant */
            do: "user-unlock";
            name: string;
        } | {
            /** @constant */
            do: "user-groups";
            name: string;
            groups: string[];
            /**
             * @description In no others.
             * @default false
             */
            exact?: boolean;
        } | {
            /** @constant */
            do: "user-key-add";
            name: string;
            key: string;
        } | {
            /** @constant */
            do: "user-key-remove";
            name: string;
            key: string;
        } | {
            /** @constant */
            do: "primitive";
            primitive: components["schemas"]["HostPrimitive"];
            /** @description What the primitive wants to be told; what is not told is left alone. */
            declaration: {
                [key: string]: unknown;
            };
            /**
             * @description It is not to be there.
             * @default false
             */
            absent?: boolean;
        };
        HostDisks: {
            mounts: components["schemas"]["HostMount"][];
            /** @description What is largest below the directory that was asked for, the largest first. */
            largest?: components["schemas"]["HostTree"][];
            /** @description What could not be looked at, and why. */
            note?: string | null;
        };
        /** @description Something about a machine that is not well. */
        HostFinding: {
            about: components["schemas"]["Vital"];
            level: components["schemas"]["HealthLevel"];
            /** @description What was found, and what to do. */
            message: string;
        };
        /** @description A verdict on a machine, with what it is made of. */
        HostHealth: {
            /** @description The worst of the findings. */
            level: components["schemas"]["HealthLevel"];
            /** @description The worst first. */
            findings: components["schemas"]["HostFinding"][];
            vitals: components["schemas"]["HostVitals"];
        };
        HostLogLine: {
            /**
             * Format: date-time
             * @description Absent where lines of a file are not divided.
             */
            time?: string | null;
            /** @description Who wrote it: a service or a program. */
            by?: string | null;
            /**
             * Format: uint8
             * @description 0 (emergency) to 7 (debug).
             */
            priority?: number | null;
            text: string;
        };
        HostLogs: {
            /** @description Where the lines come from: `journal`, `kernel` or the path of a file. */
            source: string;
            /** @description In order, the newest last. */
            lines: components["schemas"]["HostLogLine"][];
            /** @description Whether there are more that would fit. */
            isCut: boolean;
        };
        HostMount: {
            point: string;
            device: string;
            filesystem: string;
            size: number | string;
            used: number | string;
            /** @description To everybody: without what is reserved for root. */
            available: number | string;
            /**
             * Format: uint64
             * @description Zero where the file system does not count them.
             */
            inodes: number;
            /** Format: uint64 */
            inodesUsed: number;
            isReadOnly: boolean;
        };
        /** @description What came of a deed, or would come of it. */
        HostOutcome: {
            /** @description Whether something is different now, or would be after a check. */
            changed: boolean;
            message: string;
            changes: components["schemas"]["HostChange"][];
            /** @description The end of what programs said on the way; empty after a check. */
            output?: string;
        };
        HostPackage: {
            name: string;
            version?: string | null;
            description?: string;
        };
        HostPackages: {
            /** @description Who manages packages there: `apt`, `dnf`, .. */
            manager: string;
            packages: components["schemas"]["HostPackage"][];
            /**
             * Format: uint64
             * @description How many fit altogether.
             */
            total: number;
        };
        /** @description What a declaration describes. */
        HostPrimitive: ("file" | "directory" | "package" | "service" | "user" | "group" | "sysctl" | "cron") | "command";
        HostProcess: {
            /** Format: uint32 */
            pid: number;
            /** Format: uint32 */
            parent: number;
            user: string;
            /** @description As the kernel knows it, at most 15 bytes. */
            name: string;
            /** @description The whole command line, cut where it is long; empty for threads of the kernel. */
            command: string;
            /** @description One letter of the kernel's: `R` runs, `S` sleeps, `D` waits for a device, `Z` is dead. */
            state: string;
            /**
             * Format: double
             * @description Share of one core while it was looked at; above 1 with several threads.
             */
            cpu: number;
            memory: number | string;
            /** Format: uint32 */
            threads: number;
            /**
             * Format: uint64
             * @description When it started, in clock ticks since boot: together with the pid it names this process only.
             */
            startTicks: number;
            /** Format: date-time */
            timeStarted?: string | null;
        };
        HostProcesses: {
            processes: components["schemas"]["HostProcess"][];
            /**
             * Format: uint64
             * @description How many fit altogether.
             */
            total: number;
        };
        HostService: {
            name: string;
            /** @description Such as `running`, `exited`, `dead`, `failed`; `unknown` where only asking the service would tell. */
            state: string;
            /** @description Such as `active`, `inactive`, `failed`. */
            active?: string;
            /** @description Such as `enabled` or `disabled`; told of a single service only. */
            boot?: string | null;
            description?: string;
            /** @description What the service manager says about it, for people; told of a single service only. */
            status?: string | null;
        };
        HostServices: {
            /** @description Who starts services there: `systemd`, `openrc`, `sysv` or `unknown`. */
            init: string;
            services: components["schemas"]["HostService"][];
            /**
             * Format: uint64
             * @description How many fit altogether.
             */
            total: number;
            /** @description What cannot be told there, and why. */
            note?: string | null;
        };
        /** @description A file, or a directory with everything in it. */
        HostTree: {
            path: string;
            /** @description What it takes of the disk. */
            size: number | string;
            isDirectory: boolean;
            /**
             * Format: uint64
             * @description Files in it; 1 for a file.
             */
            files: number;
        };
        HostUser: {
            name: string;
            /** Format: uint32 */
            uid: number;
            /** @description Its groups, the primary one first. */
            groups: string[];
            comment?: string;
            home: string;
            shell: string;
            /** @description One of the machine's own. */
            isSystem: boolean;
            /** @description Whether its password is locked; absent where the agent may not know. */
            isLocked?: boolean | null;
            /**
             * Format: uint32
             * @description How many public keys let somebody in; absent where the agent may not know.
             */
            keys?: number | null;
        };
        HostUsers: {
            users: components["schemas"]["HostUser"][];
        };
        /** @description What was measured on a machine. Whether that is well is decided elsewhere. */
        HostVitals: {
            /**
             * Format: date-time
             * @description The machine's clock when it was asked.
             * @default 1970-01-01T00:00:00.000000Z
             */
            time?: string;
            /**
             * Format: uint64
             * @default 0
             */
            uptimeSeconds?: number;
            /**
             * Format: uint32
             * @default 0
             */
            cores?: number;
            /**
             * @description Processes that run or wait for a device, on average over 1, 5 and 15 minutes.
             * @default [
             *       0,
             *       0,
             *       0
             *     ]
             */
            load?: number[];
            /** @default 0 */
            memory?: number | string;
            /**
             * @description What could be given to programs without swapping.
             * @default 0
             */
            memoryAvailable?: number | string;
            /** @default 0 */
            swap?: number | string;
            /** @default 0 */
            swapFree?: number | string;
            /** @default [] */
            mounts?: components["schemas"]["HostMount"][];
            /** @description Services that failed; absent where nobody can tell. */
            failedServices?: string[] | null;
            /** @default [] */
            temperatures?: components["schemas"]["TemperatureFact"][];
            /** @description Why the machine should be restarted, such as the packages that want it. */
            reboot?: string | null;
            /**
             * Format: date-time
             * @description When the agent's certificate expires.
             */
            certificateExpires?: string | null;
            /**
             * Format: uint32
             * @description Processes that are dead and that nobody has waited for.
             * @default 0
             */
            zombies?: number;
        };
        /** @description A call of an address outside. What is answered with a status from 200 to 299 has succeeded. */
        HttpAction: {
            method?: components["schemas"]["HttpMethod"];
            url: string;
            /** @description Without credentials: those are secrets. */
            headers?: {
                [key: string]: string;
            };
            /** @description `application/json` unless a header says otherwise. */
            body?: string;
            /** @description A secret that is sent as bearer token. */
            bearer?: string | null;
            /** @description A secret that the call is signed with: HMAC-SHA-256 of time and body. */
            sign?: string | null;
            /**
             * @description How long the whole call may take; 30 s when absent.
             * @default 30s
             * @example 30s
             * @example 1m30s
             */
            timeout?: string;
        };
        HttpCheck: {
            /** @default 127.0.0.1 */
            host?: string;
            /** Format: uint16 */
            port: number;
            /** @default / */
            path?: string;
            /** @description Statuses that are good; any from 200 to 399 when empty. */
            status?: number[];
        };
        /** @enum {string} */
        HttpMethod: "DELETE" | "GET" | "HEAD" | "PATCH" | "POST" | "PUT";
        /**
         * @description What it proves itself with. A token for Hostler's API is always among it, in the file that
         *     `HOSTLER_TOKEN_FILE` names.
         */
        Identity: {
            /**
             * @description What it may do through Hostler's API, in its own project: this role, and never more than whoever
             *     submitted it. Without one it can ask who it is, and nothing else.
             */
            role?: string | null;
            /** @description Tokens for others, who check them with the keys of this installation. */
            tokens?: components["schemas"]["AudienceToken"][];
        };
        /** Format: uuid */
        ImageId: string;
        ImageListQuery: {
            /** @description Only versions of this image. */
            name?: string | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        /** @description Whether a version of an image is on a node. */
        ImageNodeView: {
            node: string;
            /** @description Absent when the node has not said. */
            isHere?: boolean | null;
            /** @description Why it has not. */
            problem?: string | null;
        };
        ImagePath: {
            /** @description NAME, NAME:VERSION or NAME@DIGEST. */
            image: string;
        };
        ImagePushBody: {
            name: string;
            /** @description Of the whole content. */
            digest: string;
            /** @description In the order of the content. */
            chunks: components["schemas"]["ChunkRef"][];
            /**
             * @description Where it comes from, for people.
             * @default
             */
            origin?: string;
        };
        /** @description Where on a node an image is taken from. */
        ImageSource: {
            /** @constant */
            from: "image";
            image: string;
        } | {
            /** @constant */
            from: "container";
            container: string;
        };
        ImageSyncBody: {
            /**
             * @description Names or ids of nodes; every node that is online and has a container engine where none is named.
             * @default []
             */
            nodes?: string[];
        };
        ImageTakeBody: {
            /** @description Name or id of the node. */
            node: string;
            source: components["schemas"]["ImageSource"];
        };
        ImageView: {
            id: components["schemas"]["ImageId"];
            name: string;
            /** Format: uint32 */
            version: number;
            /** @description What a workload says to have it: `hostler://NAME:VERSION`. */
            reference: string;
            digest: string;
            size: number | string;
            origin: string;
            createdBy: components["schemas"]["Actor"];
            /** Format: date-time */
            timeCreated: string;
        };
        /** @description A file, or an archive, that is put into the run's working directory before it starts. */
        Input: {
            /** @description Digest of a blob of the project. */
            blob: string;
            /**
             * @description Where it goes, relative to the working directory. Of an archive: the directory it is unpacked
             *     into, `.` for the working directory itself.
             */
            path: string;
            /** @description Permissions in octal; `644` when absent. Not for archives, which bring their own. */
            mode?: string | null;
            /** @description It is a tar archive (plain, gzip or zstd) to be unpacked. */
            unpack?: boolean;
        };
        InvitationAcceptBody: {
            /** @description The secret of the link. */
            invitation: string;
            /** @description The name to have; may be absent where the invitation is bound to one. */
            name?: string | null;
            password: string;
            kind: components["schemas"]["LoginKind"];
        };
        InvitationCreateBody: {
            /** @description At most the role that the caller holds there. */
            role: components["schemas"]["Role"];
            /** @description The only name that can be taken with it. */
            name?: string | null;
            /** @description Whom it is meant for, as a note; nothing is sent there. */
            email?: string;
            /**
             * @description How long it is valid; three days when absent, at most 30 days.
             * @example 30s
             * @example 1m30s
             */
            ttl?: string | null;
        };
        InvitationCreatedView: {
            invitation: components["schemas"]["InvitationView"];
            /** @description Shown this once: to be opened in a browser, or given to `hostler login --invitation`. */
            link: string;
        };
        /** Format: uuid */
        InvitationId: string;
        /** @description What somebody is invited to. */
        InvitationOfferView: {
            role: components["schemas"]["Role"];
            /** @description Absent: on the whole installation. */
            project?: string | null;
            /** @description The name that it is bound to; otherwise choose one. */
            name?: string | null;
            createdBy: string;
            /** Format: date-time */
            timeExpires: string;
        };
        InvitationPath: {
            /** @description Id of the invitation. */
            invitation: string;
        };
        InvitationShowBody: {
            /** @description The secret of the link. */
            invitation: string;
        };
        /** @enum {string} */
        InvitationState: "unused" | "used" | "expired" | "revoked";
        InvitationView: {
            id: components["schemas"]["InvitationId"];
            role: components["schemas"]["Role"];
            /** @description Absent: on the whole installation. */
            project?: string | null;
            name?: string | null;
            email?: string;
            state: components["schemas"]["InvitationState"];
            createdBy: string;
            usedBy?: string | null;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeExpires: string;
        };
        JoinBody: {
            token: string;
            name: string;
            /** @description Certificate signing request, PEM. */
            csr: string;
        };
        JoinTokenCreateBody: {
            /** @description Bind the token to this node name. */
            name?: string | null;
            /**
             * @description Labels the node will have.
             * @default {}
             */
            labels?: {
                [key: string]: string;
            };
            /**
             * @description How long it is valid; one hour when absent, at most 30 days.
             * @example 30s
             * @example 1m30s
             */
            ttl?: string | null;
        };
        JoinTokenCreatedView: {
            token: components["schemas"]["JoinTokenView"];
            /** @description Shown this once: the secret together with the authority's fingerprint. */
            ticket: string;
            /** @description The command to run on the machine. */
            command: string;
        };
        /** Format: uuid */
        JoinTokenId: string;
        JoinTokenPath: {
            /** @description Id of the join token. */
            token: string;
        };
        /** @enum {string} */
        JoinTokenState: "unused" | "used" | "expired" | "revoked";
        JoinTokenView: {
            id: components["schemas"]["JoinTokenId"];
            name?: string | null;
            labels: {
                [key: string]: string;
            };
            /** @description `unused`, `used`, `expired` or `revoked`. */
            state: components["schemas"]["JoinTokenState"];
            usedBy?: components["schemas"]["NodeId"] | null;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeExpires: string;
        };
        JoinView: {
            nodeId: components["schemas"]["NodeId"];
            /** @description The node's certificate, PEM. */
            certificate: string;
            /** @description The authority's certificate, PEM. */
            authority: string;
            /** @description Where agents connect, `host:port`. */
            agentAddresses: string[];
            /** Format: date-time */
            timeExpires: string;
        };
        /** @description A public key on the curve P-256. */
        JwkView: {
            kty: string;
            kid: string;
            use: string;
            alg: string;
            crv: string;
            x: string;
            y: string;
        };
        JwksView: {
            /** @description One key and more while keys change; none before the first token. */
            keys: components["schemas"]["JwkView"][];
        };
        /** @description Limits of each run, kept by cgroups where the node has them and by resource limits where not. */
        Limits: {
            /** @description Memory; a run that needs more is killed, and its end says so. */
            memory?: (number | string) | null;
            /** @description Memory above which the run is slowed down and its pages are taken back first. */
            memoryHigh?: (number | string) | null;
            /** @description Processor time, in cores. */
            cpu?: number | null;
            /**
             * Format: uint32
             * @description Share of processor time when there is not enough, against 100 for others.
             */
            cpuWeight?: number | null;
            /**
             * Format: int32
             * @description Priority: -20 is the highest, 19 the lowest.
             */
            nice?: number | null;
            /**
             * Format: uint32
             * @description Processes and threads.
             */
            pids?: number | null;
            /**
             * Format: uint32
             * @description Open files of each process.
             */
            files?: number | null;
            /**
             * Format: uint32
             * @description Share of disk time when there is not enough, against 100 for others.
             */
            ioWeight?: number | null;
        };
        /** @description A part of a list. */
        Listing: {
            items: components["schemas"]["ServerView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing10: {
            items: components["schemas"]["RoleHolderView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing11: {
            items: components["schemas"]["GroupView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing12: {
            items: components["schemas"]["ApprovalView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing13: {
            items: components["schemas"]["ApprovalPolicyView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing14: {
            items: components["schemas"]["TokenView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing15: {
            items: components["schemas"]["ProjectView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing16: {
            items: components["schemas"]["NodeView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing17: {
            items: components["schemas"]["NodeWorkloadView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing18: {
            items: components["schemas"]["NodeHeldView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing19: {
            items: components["schemas"]["JoinTokenView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing2: {
            items: components["schemas"]["ReconcilerView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing20: {
            items: components["schemas"]["NodeBackupView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing21: {
            items: components["schemas"]["BackupFileView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing22: {
            items: components["schemas"]["ImageView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing23: {
            items: components["schemas"]["ImageNodeView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing24: {
            items: components["schemas"]["NodeImage"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing25: {
            items: components["schemas"]["NodeContainer"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing26: {
            items: components["schemas"]["TaskView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing27: {
            items: components["schemas"]["ArrayView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing28: {
            items: components["schemas"]["AccountView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing29: {
            items: components["schemas"]["RunView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing3: {
            items: components["schemas"]["BackupView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing30: {
            items: components["schemas"]["WorkloadView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing31: {
            items: components["schemas"]["WorkloadRunView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing32: {
            items: components["schemas"]["PlacementView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing33: {
            items: components["schemas"]["FireView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing34: {
            items: components["schemas"]["UsageSample"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing35: {
            items: components["schemas"]["WorkflowView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing36: {
            items: components["schemas"]["ExecutionView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing37: {
            items: components["schemas"]["StepOutputView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing38: {
            items: components["schemas"]["ModuleView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing39: {
            items: components["schemas"]["ScheduleView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing4: {
            items: components["schemas"]["WebSessionView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing40: {
            items: components["schemas"]["NextFireView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing41: {
            items: components["schemas"]["ScheduleFireView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing42: {
            items: components["schemas"]["WatcherView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing43: {
            items: components["schemas"]["BlobView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing44: {
            items: components["schemas"]["OutputView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing45: {
            items: components["schemas"]["SecretView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing46: {
            items: components["schemas"]["VaultView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing47: {
            items: components["schemas"]["SecretVersionView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing48: {
            items: components["schemas"]["LockView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing49: {
            items: components["schemas"]["HookView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing5: {
            items: components["schemas"]["UserIdentityView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing50: {
            items: components["schemas"]["DeliveryView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing51: {
            items: components["schemas"]["StateNamespaceView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing52: {
            items: components["schemas"]["StateEntryView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing53: {
            items: components["schemas"]["StateChangeView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing54: {
            items: components["schemas"]["OperationView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing55: {
            items: components["schemas"]["EventView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing56: {
            items: components["schemas"]["AuditView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing57: {
            items: components["schemas"]["AuditAnchorView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing58: {
            items: components["schemas"]["AuditSinkView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing59: {
            items: components["schemas"]["ObjectRef"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing6: {
            items: components["schemas"]["InvitationView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing60: {
            items: components["schemas"]["StackView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing61: {
            items: components["schemas"]["StackOutputView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing62: {
            items: components["schemas"]["StackEventView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing63: {
            items: components["schemas"]["StackResourceView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing64: {
            items: components["schemas"]["StackHookView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing65: {
            items: components["schemas"]["StackPlanView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing66: {
            items: components["schemas"]["StackPluginView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing67: {
            items: components["schemas"]["StackRevisionView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing68: {
            items: components["schemas"]["StackSnapshotView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing69: {
            items: components["schemas"]["StackChecklistView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing7: {
            items: components["schemas"]["UserView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing70: {
            items: components["schemas"]["StackCheckLine"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing71: {
            items: components["schemas"]["StackTypeView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing72: {
            items: components["schemas"]["StackEditionView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing8: {
            items: components["schemas"]["MemberView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        /** @description A part of a list. */
        Listing9: {
            items: components["schemas"]["RoleView"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description Where a watch that misses nothing after this list begins; absent where nothing can be watched. */
            watchCursor?: string | null;
        };
        LockAcquireBody: {
            /**
             * Format: uint32
             * @description How many may hold it at once; all who use it at the same time say the same (default 1).
             * @default 1
             */
            slots?: number;
            /**
             * @description How long the holder may be silent before the lock is free again: 1s to 1d (default 30s).
             * @default 30s
             * @example 30s
             * @example 1m30s
             */
            ttl?: string;
            /**
             * @description How long to wait now, up to 30s: repeat the request to wait longer. Absent is not to queue at all.
             * @example 30s
             * @example 1m30s
             */
            wait?: string | null;
            /**
             * @description Who this is, for people who look.
             * @default {}
             */
            holder?: components["schemas"]["LockHolder"];
        };
        /** @description What became of asking for a lock. */
        LockAcquired: {
            outcome: components["schemas"]["LockOutcome"];
            lock: string;
            /** @description What you have; absent where it is nothing. */
            hold?: components["schemas"]["LockHoldView"] | null;
            /**
             * Format: uint64
             * @description How many wait before you.
             */
            before?: number | null;
            /** @description Who holds it, where you do not. */
            holders?: components["schemas"]["LockHoldView"][];
        };
        LockDetailView: {
            id: components["schemas"]["LockId"];
            name: string;
            /** Format: uint32 */
            slots: number;
            /** Format: uint32 */
            held: number;
            /** Format: uint32 */
            waiting: number;
            /**
             * Format: uint64
             * @description The last fencing token that was given.
             */
            token: number;
            holders: components["schemas"]["LockHoldView"][];
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
            /** @description The first hundred of those who wait, in their order. */
            queue: components["schemas"]["LockHoldView"][];
            /** @description Those who held it before, newest first. */
            past: components["schemas"]["LockPastView"][];
        };
        /** @description How somebody came to hold a lock no longer. */
        LockEnd: "released" | "expired" | "forced";
        LockForceBody: {
            /** @description Why it is taken away: 1 to 1000 characters. */
            reason: string;
            /** @description Only from this hold; from all who hold it when absent. */
            hold?: components["schemas"]["LockHoldId"] | null;
        };
        /** @description Who took a lock away from its holder, and why. */
        LockForced: {
            by: string;
            reason: string;
        };
        /** Format: uuid */
        LockHoldId: string;
        LockHoldPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name of the lock; a `/` in it is written `%2F`. */
            lock: string;
            /** @description Id of the hold, chosen by who asks: a fresh UUID for every time that the lock is wanted. */
            hold: components["schemas"]["LockHoldId"];
        };
        /** @description Somebody who holds a lock, or waits for it. */
        LockHoldView: {
            id: components["schemas"]["LockHoldId"];
            /**
             * Format: uint64
             * @description The fencing token: it only grows. Absent while it waits.
             */
            token?: number | null;
            /** @description The user, service account or workload. */
            by: string;
            holder: components["schemas"]["LockHolder"];
            /**
             * @example 30s
             * @example 1m30s
             */
            ttl: string;
            /** Format: date-time */
            timeAsked: string;
            /** Format: date-time */
            timeGranted?: string | null;
            /**
             * Format: date-time
             * @description When it was heard of last.
             */
            timeRenewed: string;
        };
        /** @description Who holds a lock or waits for it, for people who look. */
        LockHolder: {
            /** @description The machine it is on. */
            host?: string;
            /**
             * Format: uint32
             * @description The process there.
             */
            pid?: number | null;
            /** @description What it runs. */
            command?: string;
            /** @description What it is for. */
            why?: string;
        };
        /** Format: uuid */
        LockId: string;
        LockListQuery: {
            /** @description Also those that nobody holds or waits for, as long as they are remembered. */
            all?: boolean | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        /** @description What became of asking for a lock. */
        LockOutcome: "held" | "waiting" | "busy";
        /** @description Somebody who held a lock before. */
        LockPastView: {
            id: components["schemas"]["LockHoldId"];
            /** Format: uint64 */
            token: number;
            by: string;
            holder: components["schemas"]["LockHolder"];
            end: components["schemas"]["LockEnd"];
            /** @description Who took it away and why. */
            forced?: components["schemas"]["LockForced"] | null;
            /** Format: date-time */
            timeGranted: string;
            /** Format: date-time */
            timeEnded: string;
        };
        LockPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name of the lock; a `/` in it is written `%2F`. */
            lock: string;
        };
        LockRenewBody: {
            /**
             * @description Another TTL from now on.
             * @example 30s
             * @example 1m30s
             */
            ttl?: string | null;
        };
        LockView: {
            id: components["schemas"]["LockId"];
            name: string;
            /** Format: uint32 */
            slots: number;
            /** Format: uint32 */
            held: number;
            /** Format: uint32 */
            waiting: number;
            /**
             * Format: uint64
             * @description The last fencing token that was given.
             */
            token: number;
            holders: components["schemas"]["LockHoldView"][];
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
        };
        /** @description One line of the answer to `task_logs`. */
        LogLine: {
            /** @constant */
            type: "data";
            stream: components["schemas"]["OutputStream"];
            /** Format: date-time */
            time: string;
            data: string;
            cursor: string;
        } | {
            /** @constant */
            type: "gap";
            detail: string;
        } | {
            /** @constant */
            type: "end";
            complete: boolean;
        };
        /** @description How much of a workload's output is kept on its node. */
        LogPolicy: {
            /**
             * @description Of all its runs together; the oldest goes first.
             * @default 67108864
             */
            maxBytes?: number | string;
            /**
             * @description Output older than this goes.
             * @default 30d
             * @example 30s
             * @example 1m30s
             */
            maxAge?: string;
        };
        /** @description New lines of a log: of a file below `/var/log`, or of what a unit of systemd wrote into the journal. */
        LogWatch: {
            path?: string;
            unit?: string;
            /** @description A regular expression that lines have to fit, of the kind that takes linear time. */
            pattern: string;
        };
        LoginBody: {
            name: string;
            password: string;
            /** @description Of the second factor, where there is one: six digits, or a recovery code. */
            code?: string | null;
            kind: components["schemas"]["LoginKind"];
        };
        /** @description What a login gives. */
        LoginKind: "cookie" | "token";
        LoginView: {
            name: string;
            /** @description Shown once; for `kind: token`. */
            token?: string | null;
            /** @description To be sent in `x-hostler-csrf` with every change; for `kind: cookie`. */
            csrfToken?: string | null;
            /** Format: date-time */
            timeExpires: string;
        };
        LogsQuery: {
            /** @description Go on until the task ends. */
            follow?: boolean | null;
            /** @description Only this stream. */
            stream?: components["schemas"]["OutputStream"] | null;
            /**
             * Format: uint32
             * @description Begin this many lines before the end.
             */
            tail?: number | null;
            /** @description Begin after the line that carried this cursor. */
            cursor?: string | null;
        };
        /** @description A Lua file with a function `on_event(event)`. */
        LuaAction: {
            /** @description What the file is called in its mistakes. */
            file: string;
            text: string;
            /**
             * @description Where it runs, and which secrets it has.
             * @default {}
             */
            options?: components["schemas"]["ExecutionOptions"];
            /**
             * Format: uint32
             * @description Which version of the workflow `hook:NAME` it is kept as; the server says.
             * @default 0
             */
            version?: number;
        };
        MemberPath: {
            project: string;
            /** @description Name or id of the user, or `group:` and the name of a group. */
            user: string;
        };
        MemberSetBody: {
            /** @description A built-in role, or the name of a custom one. */
            role: string;
        };
        MemberView: {
            /** @description Name of the user, or `group:` and the name of the group. */
            user: string;
            /** @description Id of the user or of the group. */
            id: string;
            role: string;
        };
        MetricsHistoryQuery: {
            /** @description Names of figures, separated by commas, such as `cpu.used,cpu.total`; without it all of them. */
            series?: string | null;
            /**
             * Format: date-time
             * @description From when on; without it an hour ago. The longer ago, the longer the stretches.
             */
            since?: string | null;
        };
        /** @description Figures over time, in columns: the n-th value of a series is of the n-th stretch. */
        MetricsHistoryView: {
            /** @description Who remembers; it forgets when it ends. */
            serverId: components["schemas"]["ServerId"];
            /** @description The end of each stretch. */
            times: string[];
            /** @description The length of each stretch, in seconds. */
            seconds: number[];
            series: components["schemas"]["FigureSeriesView"][];
        };
        /** @description How often a workload runs: `once`, `forever`, `{times: 3}` or `{schedule: {cron: "0 3 * * *"}}`. */
        Mode: "once" | "forever" | {
            /** Format: uint32 */
            times: number;
        } | {
            schedule: components["schemas"]["Schedule"];
        };
        /**
         * @description A mode without what belongs to it.
         * @enum {string}
         */
        ModeKind: "once" | "forever" | "times" | "schedule";
        ModulePath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name of the module. */
            module: string;
        };
        ModulePushBody: {
            /** @description What `require` finds it by: letters, digits, `_`, `-`, and `.` between them. */
            name: string;
            bundle: components["schemas"]["WorkflowBundle"];
            /**
             * @description What is only warned of otherwise is a mistake.
             * @default false
             */
            strict?: boolean;
        };
        /** @description What became of a module. */
        ModulePushed: {
            module: components["schemas"]["ModuleView"];
            /** @description What is odd, with where it is. */
            warnings: string[];
        };
        /** @description A version of a module, by name and number: `web@3`. */
        ModuleRef: {
            name: string;
            /** Format: uint32 */
            version: number;
        };
        /** @description The text of a version of a module. */
        ModuleText: {
            name: string;
            /** Format: uint32 */
            version: number;
            bundle: components["schemas"]["WorkflowBundle"];
        };
        /** @description One version of a module. */
        ModuleView: {
            name: string;
            /** Format: uint32 */
            version: number;
            /** @description Of the text. */
            bundle: string;
            file: string;
            /** @description Modules that it needs itself, as they were when it was kept. */
            modules?: components["schemas"]["ModuleRef"][];
            createdBy: string;
            /** Format: date-time */
            timeCreated: string;
        };
        /** @description Something of the node that the container sees. */
        Mount: {
            /** @description Absolute path on the node. */
            source: string;
            /** @description Absolute path in the container. */
            target: string;
            readOnly?: boolean;
        };
        /** @description A time that will come. */
        NextFireView: {
            /**
             * Format: date-time
             * @description When the schedule says.
             */
            time: string;
            /**
             * Format: date-time
             * @description When it will be begun: the time, put off by jitter.
             */
            start: string;
            /** @description The time as clocks show it in the schedule's zone. */
            local: string;
            /** @description What is special about it, where clocks are changed. */
            remark?: components["schemas"]["FireRemark"] | null;
        };
        /** @description A backup of paths of a node. */
        NodeBackupAction: {
            node: string;
            /** @description Absolute paths of files and directories, with everything below them. */
            paths: string[];
            /** @description Names that are left out, with `*` and `?`; with a `/` in it, a pattern of the whole path. */
            exclude?: string[];
            /**
             * @description Also what lies on other file systems below the paths.
             * @default false
             */
            crossFilesystems?: boolean;
            /**
             * @description Where it is kept: `server`, or a store that the configuration of the servers names.
             * @default server
             */
            store?: string;
            /** @description A name for it; several backups can have the same. */
            label?: string;
            /**
             * Format: uint32
             * @description Keep so many backups of this node with this name.
             */
            keep?: number | null;
        };
        NodeBackupCreateBody: {
            /**
             * @description Absolute paths of files and directories, with everything below them.
             * @default []
             */
            paths?: string[];
            /** @description Names that are left out, with `*` and `?`; with a `/` in it, a pattern of the whole path. */
            exclude?: string[];
            /**
             * @description Also what lies on other file systems below the paths.
             * @default false
             */
            crossFilesystems?: boolean;
            /**
             * @description Where it is kept: `server`, or a store that the configuration of the servers names.
             * @default server
             */
            store?: string;
            /** @description A name for it; several backups can have the same. */
            label?: string;
            /**
             * Format: uint32
             * @description Keep so many backups of this node with this name, and remove older ones once this is complete.
             */
            keep?: number | null;
        };
        NodeBackupFilesQuery: {
            /** @description Only this path and what is below it. */
            path?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        /** Format: uuid */
        NodeBackupId: string;
        NodeBackupListQuery: {
            /** @description Only of this node: its name, or its id, also when it was removed. */
            node?: string | null;
            /** @description Only in this state. */
            state?: components["schemas"]["NodeBackupState"] | null;
            /** @description Only with this name. */
            label?: string | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        /** @description What a node kept. */
        NodeBackupOutcome: {
            /** @description Of the list of entries. */
            manifest: components["schemas"]["BackupVolume"];
            volumes: components["schemas"]["BackupVolume"][];
            /** Format: uint64 */
            files: number;
            /** Format: uint64 */
            directories: number;
            /** Format: uint64 */
            links: number;
            /** @description Of the files, without holes. */
            bytes: number | string;
            /** @description Sent, packed; the rest was there already. */
            bytesSent: number | string;
            /**
             * Format: uint64
             * @description Changed while they were read; kept as they were read.
             */
            changed: number;
            /**
             * Format: uint64
             * @description Gone before they could be read.
             */
            vanished: number;
            /**
             * Format: uint64
             * @description Could not be read.
             */
            unreadable: number;
            /**
             * Format: uint64
             * @description Neither files, directories nor links.
             */
            special: number;
            /** @description The first of what is not as it should be, by name. */
            troubles: components["schemas"]["BackupTrouble"][];
        };
        NodeBackupPath: {
            /** @description Id of the backup, or its name: then the newest of this name is meant. */
            backup: string;
        };
        NodeBackupRestoreBody: {
            /** @description Where it is put back; the node that it is of when absent. */
            node?: string | null;
            /** @description Where on the machine: a fresh directory, below a directory, or where it came from. */
            to: components["schemas"]["RestoreTo"];
            /** @description Only these paths and what is below them; everything when empty. */
            paths?: string[];
            /**
             * @description Put files in the place of those that are there; else these are left alone.
             * @default false
             */
            overwrite?: boolean;
            /**
             * @description Only say what would be different.
             * @default false
             */
            check?: boolean;
        };
        /** @description What is to be kept of a machine. */
        NodeBackupSpec: {
            /** @description Absolute paths of files and directories, with everything below them. */
            paths: string[];
            /** @description Names that are left out, with `*` and `?`; with a `/` in it, a pattern of the whole path. */
            exclude?: string[];
            /**
             * @description Also what lies on other file systems below the paths.
             * @default false
             */
            crossFilesystems?: boolean;
        };
        NodeBackupState: "waiting" | "running" | "complete" | "failed";
        NodeBackupView: {
            id: components["schemas"]["NodeBackupId"];
            nodeId: components["schemas"]["NodeId"];
            /** @description As the node was called then. */
            node: string;
            /** @description What people call it; may be empty. */
            label: string;
            store: string;
            spec: components["schemas"]["NodeBackupSpec"];
            state: components["schemas"]["NodeBackupState"];
            /** @description What made it, or makes it. */
            operation: components["schemas"]["OperationId"];
            /** @description Once it is complete. */
            outcome?: components["schemas"]["NodeBackupOutcome"] | null;
            /** @description Why it failed. */
            error?: string | null;
            /** @description What came of reading it through last. */
            verdict?: components["schemas"]["BackupVerdict"] | null;
            createdBy: components["schemas"]["Actor"];
            /** Format: uint64 */
            generation: number;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeEnded?: string | null;
        };
        /** @description A container that a node's engine has. */
        NodeContainer: {
            id: string;
            name: string;
            image: string;
            command: string;
            /** @description Such as `running`, `exited`, `paused`. */
            state: string;
            /** @description In the engine's words, such as `Up 3 minutes`. */
            status: string;
            /** @description The run it belongs to, when it is one of Hostler's. */
            run?: components["schemas"]["RunId"] | null;
            /** Format: date-time */
            timeCreated: string;
        };
        NodeContainerPath: {
            /** @description Name or id of the node. */
            node: string;
            /** @description Name or id of the container. */
            container: string;
        };
        NodeCordonBody: {
            reason: string;
        };
        NodeDeedBody: {
            deed: components["schemas"]["HostDeed"];
        };
        NodeDisksQuery: {
            /** @description A directory whose largest files and directories are wanted. */
            largest?: string | null;
            /**
             * Format: uint32
             * @description At most this many of the largest (1 to 1000, default 20).
             */
            limit?: number | null;
        };
        NodeDrainBody: {
            reason: string;
            /**
             * @description After this long, stop what still runs; without it, wait for as long as it takes.
             * @example 30s
             * @example 1m30s
             */
            deadline?: string | null;
        };
        NodeExplanation: {
            node: string;
            isFitting: boolean;
            reasons: string[];
            labels: {
                [key: string]: string;
            };
        };
        /** @description What is reserved of a node for tasks and workloads, whatever they really use. */
        NodeHeldView: {
            id: components["schemas"]["NodeId"];
            node: string;
            /**
             * Format: uint64
             * @description How many tasks and workloads hold something of it.
             */
            placements: number;
            cores: number;
            memory: number | string;
            disk: number | string;
            /** @description Processors that are somebody's own, in Linux list form. */
            cpus?: string;
            numa?: components["schemas"]["NumaHeldView"][];
            gpus?: components["schemas"]["GpuHeldView"][];
        };
        /** Format: uuid */
        NodeId: string;
        /** @description An image that a node's engine has. */
        NodeImage: {
            /** @description The engine's own, `sha256:…`. */
            id: string;
            /** @description What the engine calls it. */
            names: string[];
            /** @description Versions of images that Hostler keeps, such as `hostler://train:3`. */
            kept?: string[];
            size: number | string;
            /** Format: date-time */
            timeCreated: string;
        };
        NodeImageQuery: {
            /** @description Name or id of the image, as the node's engine knows it. */
            image: string;
        };
        NodeListQuery: {
            /** @description Only nodes in this state. */
            state?: components["schemas"]["NodeState"] | null;
            /** @description Only nodes that carry these labels, as `key=value,key=value`. */
            selector?: string | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before; with `watch`, the `watchCursor` of a list or of the last message seen. */
            cursor?: string | null;
            /** @description Stream changes instead of listing. */
            watch?: boolean | null;
        };
        NodeLogsQuery: {
            /** @description Only what this service wrote; needs the journal of systemd. */
            service?: string | null;
            /** @description A file below `/var/log` instead of the journal. */
            file?: string | null;
            /** @description The kernel's messages. */
            kernel?: boolean | null;
            /**
             * Format: uint32
             * @description So many of the last lines (1 to 10000, default 100).
             */
            lines?: number | null;
            /**
             * Format: date-time
             * @description From this time on; of the journal only.
             */
            since?: string | null;
            /**
             * Format: date-time
             * @description Up to this time; of the journal only.
             */
            until?: string | null;
            /**
             * Format: uint8
             * @description This priority and worse, 0 (emergency) to 7 (debug); of the journal only.
             */
            priority?: number | null;
            /** @description A regular expression that lines have to match. */
            grep?: string | null;
        };
        /** @description A sample of the machine's load, sent with heartbeats. */
        NodeMetrics: {
            /**
             * Format: double
             * @default 0
             */
            load1m?: number;
            /**
             * Format: double
             * @description Share of all cores busy since the last sample, 0 to 1.
             * @default 0
             */
            cpuRatio?: number;
            /** @default 0 */
            memoryUsed?: number | string;
            /** @default 0 */
            diskUsed?: number | string;
            /** @default 0 */
            diskSize?: number | string;
            /**
             * Format: uint64
             * @default 0
             */
            uptimeSeconds?: number;
            /**
             * Format: uint32
             * @default 0
             */
            runsActive?: number;
            /**
             * @description Resident memory of the agent itself.
             * @default 0
             */
            agentMemory?: number | string;
            /**
             * Format: double
             * @description The hottest sensor, in degrees Celsius.
             */
            temperature?: number | null;
            /**
             * Format: int64
             * @description How far the node's clock is ahead of the server's, in milliseconds; behind when negative.
             */
            clockSkewMs?: number | null;
            writes?: components["schemas"]["WriteMetrics"] | null;
            /**
             * Format: uint64
             * @description Lines that programs printed and that could not be kept, since the agent started.
             * @default 0
             */
            gapLines?: number;
            gpus?: components["schemas"]["GpuMetrics"][];
        };
        NodePackagesQuery: {
            /** @description Which packages; `installed` when absent. */
            which?: components["schemas"]["PackageWhich"] | null;
            /** @description Part of the name; of the description too where packages are searched. */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many (1 to 10000, default 10000).
             */
            limit?: number | null;
        };
        NodePath: {
            /** @description Name or id of the node. */
            node: string;
        };
        NodeProcessesQuery: {
            /** @description What comes first; `cpu` when absent. */
            order?: components["schemas"]["ProcessOrder"] | null;
            /** @description Part of the name or of the command line. */
            filter?: string | null;
            /** @description Only those of this user. */
            user?: string | null;
            /**
             * Format: uint32
             * @description At most this many (1 to 10000, default 10000).
             */
            limit?: number | null;
        };
        NodeReloadView: {
            node: components["schemas"]["NodeView"];
            /** @description What was found to be different, by the names of the facts. */
            factsChanged: string[];
            /**
             * Format: uint64
             * @description How many tasks and workloads the node is told of again. It has taken all of them in when its
             *     `appliedGeneration` has reached the `desiredGeneration` here.
             */
            placements: number;
        };
        NodeServicesQuery: {
            /** @description Only this service, with what the service manager says about it. */
            name?: string | null;
            /** @description Only those in this state, such as `running` or `failed`. */
            state?: string | null;
            /** @description Part of the name. */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many (1 to 10000, default 10000).
             */
            limit?: number | null;
        };
        NodeState: "online" | "joined" | "stale" | "offline" | "removed";
        NodeUpdateBody: {
            /** @description The node's labels from now on; those not named are removed. */
            labels: {
                [key: string]: string;
            };
        };
        NodeUsageQuery: {
            /**
             * Format: date-time
             * @description From this time on; everything there is when absent.
             */
            since?: string | null;
        };
        NodeUsersQuery: {
            /** @description The machine's own users too, such as `daemon`. */
            system?: boolean | null;
            /** @description Part of the name. */
            filter?: string | null;
        };
        NodeView: {
            id: components["schemas"]["NodeId"];
            name: string;
            labels: {
                [key: string]: string;
            };
            state: components["schemas"]["NodeState"];
            cordon?: components["schemas"]["CordonView"] | null;
            facts?: components["schemas"]["Facts"] | null;
            metrics?: components["schemas"]["NodeMetrics"] | null;
            agentVersion: string;
            /** Format: uint64 */
            generation: number;
            /**
             * Format: uint64
             * @description What the node should have reached, and what its agent has accepted.
             */
            desiredGeneration: number;
            /** Format: uint64 */
            appliedGeneration: number;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeSeen?: string | null;
            /** Format: date-time */
            timeState: string;
        };
        /** @description A workload on a node. */
        NodeWorkloadView: {
            project: string;
            /** @description By name. */
            workload: string;
            placement: components["schemas"]["PlacementView"];
        };
        /** @description Stands for "no parameters" and "no body". */
        Nothing: Record<string, never>;
        NumaFact: {
            /**
             * Format: uint32
             * @default 0
             */
            index?: number;
            /**
             * @description CPUs in Linux list form, such as `0-7,16-23`.
             * @default
             */
            cpus?: string;
            /** @default 0 */
            memory?: number | string;
        };
        /** @description What is bound to a NUMA node. */
        NumaHeldView: {
            /** Format: uint32 */
            index: number;
            cores: number;
            memory: number | string;
        };
        /**
         * @description Kinds of objects that events, audit entries and watch streams speak of.
         * @enum {string}
         */
        ObjectKind: "approval" | "approval-policy" | "audit-anchor" | "audit-sink" | "authority" | "backup" | "blob" | "container" | "custom" | "execution" | "group" | "hook" | "image" | "invitation" | "join-token" | "lock" | "member" | "module" | "node" | "operation" | "project" | "role" | "schedule" | "secret" | "server" | "software-config" | "software-deployment" | "stack" | "stack-plugin" | "state-namespace" | "task" | "task-array" | "token" | "user" | "watcher" | "web-session" | "workflow" | "workload";
        /** @description The object an event is about: enough to fetch it, or to name it once it is gone. */
        ObjectRef: {
            kind: components["schemas"]["ObjectKind"];
            id: string;
            name: string;
        };
        OidcBegunView: {
            /** @description Where the person goes with a browser. */
            url: string;
            /** @description To be kept by whoever began, and sent with the end. */
            ticket: string;
        };
        OidcFinishBody: {
            ticket: string;
            /** @description As the provider gave it back. */
            state: string;
            /** @description As the provider gave it. */
            code: string;
            kind: components["schemas"]["LoginKind"];
        };
        OidcView: {
            /** @description What people know the provider as; absent where there is none. */
            label?: string | null;
        };
        /** @description What becomes of later events about an object when one about it could not be delivered. */
        OnDead: "continue" | "block";
        /** @description What happens when an execution has failed. */
        OnFailure: "stop" | "compensate" | "rollback";
        /** @description What follows from bad health: `mark`, `restart` or `{hook: [..]}`. */
        OnUnhealthy: "mark" | "restart" | {
            hook: string[];
        };
        /**
         * @description Something done to nodes and images of the whole installation. Removing a node is not here: it names the
         *     generation that somebody saw.
         */
        OperationAction: {
            nodeDrain: {
                node: string;
                reason: string;
                /**
                 * @example 30s
                 * @example 1m30s
                 */
                deadline?: string | null;
            };
        } | {
            nodeCordon: {
                node: string;
                reason: string;
            };
        } | {
            nodeUncordon: {
                node: string;
            };
        } | {
            imageSync: {
                image: string;
                nodes?: string[];
            };
        } | {
            imageTake: {
                image: string;
                node: string;
                source: components["schemas"]["ImageSource"];
            };
        } | {
            nodeBackup: components["schemas"]["NodeBackupAction"];
        };
        OperationGetQuery: {
            /**
             * @description Wait at most this long (up to 60s) for the operation to end.
             * @example 30s
             * @example 1m30s
             */
            wait?: string | null;
        };
        /** Format: uuid */
        OperationId: string;
        OperationListQuery: {
            /** @description Only operations in this state. */
            state?: components["schemas"]["OperationState"] | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        OperationPath: {
            /** @description Id of the operation. */
            operation: string;
        };
        /** @description What an operation does, with every choice made when it was created. */
        OperationPlan: {
            /** @constant */
            kind: "node-drain";
            node: components["schemas"]["NodeId"];
            reason: string;
            /** Format: date-time */
            deadline?: string | null;
        } | {
            /** @constant */
            kind: "node-remove";
            node: components["schemas"]["NodeId"];
            reason: string;
        } | {
            /** @constant */
            kind: "image-sync";
            image: components["schemas"]["ImageId"];
            nodes: components["schemas"]["NodeId"][];
        } | {
            /** @constant */
            kind: "image-take";
            name: string;
            node: components["schemas"]["NodeId"];
            source: components["schemas"]["ImageSource"];
        } | {
            /** @constant */
            kind: "node-deed";
            node: components["schemas"]["NodeId"];
            deed: components["schemas"]["HostDeed"];
            /** Format: date-time */
            until: string;
        } | {
            /** @constant */
            kind: "node-backup";
            node: components["schemas"]["NodeId"];
            backup: components["schemas"]["NodeBackupId"];
            /** Format: date-time */
            until: string;
            /** Format: uint32 */
            keep?: number | null;
        } | {
            /** @constant */
            kind: "node-backup-verify";
            node: components["schemas"]["NodeId"];
            backup: components["schemas"]["NodeBackupId"];
        } | {
            /** @constant */
            kind: "node-restore";
            node: components["schemas"]["NodeId"];
            backup: components["schemas"]["NodeBackupId"];
            spec: components["schemas"]["RestoreSpec"];
            /** Format: date-time */
            until: string;
        };
        /** @enum {string} */
        OperationState: "pending" | "running" | "succeeded" | "failed" | "cancelled";
        OperationView: {
            id: components["schemas"]["OperationId"];
            plan: components["schemas"]["OperationPlan"];
            state: components["schemas"]["OperationState"];
            steps: components["schemas"]["Step"][];
            error?: string | null;
            isCancelRequested: boolean;
            createdBy: components["schemas"]["Actor"];
            /** Format: uint64 */
            generation: number;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
            /** Format: date-time */
            timeEnded?: string | null;
        };
        /** @description A file, or a directory, that is kept when the run has ended. */
        Output: {
            /**
             * @description Relative to the working directory; `*` and `?` stand for anything within one name. A directory
             *     is kept as a tar archive.
             */
            path: string;
            /**
             * @description What it is called; its path when absent. Where several files fit the path, they keep theirs
             *     below it.
             */
            name?: string | null;
            when?: components["schemas"]["OutputWhen"];
        };
        /**
         * @description Where a program writes.
         * @enum {string}
         */
        OutputStream: "stdout" | "stderr";
        /** @description Something that a run left, or should have left. */
        OutputView: {
            run: components["schemas"]["RunId"];
            name: string;
            /** @description The blob; absent when nothing could be kept. */
            digest?: string | null;
            /** Format: uint64 */
            size: number;
            /** @description It was a directory, and is a tar archive. */
            isArchive: boolean;
            /** @description Why nothing could be kept. */
            problem?: string | null;
            task: string;
            /** Format: date-time */
            timeCreated: string;
        };
        /** @description After which ends outputs are kept. */
        OutputWhen: "success" | "always";
        /** @description What happens when it is time and the last run still goes on. */
        Overlap: "allow" | "forbid" | "replace" | "queue";
        /** @description Which packages are meant. */
        PackageWhich: "installed" | "upgradable" | "available";
        /** @description Parameters of lists that take nothing but these. */
        PageQuery: {
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        PasswordChangeBody: {
            current: string;
            new: string;
        };
        PasswordResetIssueBody: {
            /**
             * @description How long the link is valid; one hour when absent, at most 7 days.
             * @example 30s
             * @example 1m30s
             */
            ttl?: string | null;
        };
        PasswordResetUseBody: {
            /** @description The secret of the link. */
            reset: string;
            password: string;
        };
        PasswordResetUsedView: {
            /** @description Whose password it is. */
            user: string;
        };
        PasswordResetView: {
            user: string;
            /** @description Shown this once: to be opened in a browser, or given to `hostler login --reset`. */
            link: string;
            /** Format: date-time */
            timeExpires: string;
        };
        /** @description Why and by whom a schedule is paused. */
        Pause: {
            by: string;
            reason: string;
            /** Format: date-time */
            time: string;
        };
        /** @description What somebody may do to a kind of object; `docs/reference/access.md` lists them. */
        Permission: "access.inspect" | "account.read" | "approval.read" | "approval.decide" | "approval.withdraw" | "approval.break-glass" | "approval-policy.read" | "approval-policy.set" | "approval-policy.global" | "audit.read" | "audit.anchor" | "authority.rotate" | "backup.create" | "backup.read" | "blob.read" | "blob.content" | "blob.create" | "blob.remove" | "blob.manage" | "container.read" | "container.export" | "container.remove" | "egress.call" | "event.read" | "event.emit" | "group.read" | "group.create" | "group.update" | "group.remove" | "hook.read" | "hook.write" | "hook.manage" | "hook.global" | "image.read" | "image.push" | "image.take" | "image.export" | "image.sync" | "image.remove" | "invitation.read" | "invitation.create" | "invitation.revoke" | "join-token.read" | "join-token.create" | "join-token.revoke" | "lock.read" | "lock.use" | "lock.force" | "member.read" | "member.set" | "member.remove" | "metrics.read" | "node.read" | "node.update" | "node.cordon" | "node.drain" | "node.reload" | "node.remove" | "node.inspect" | "node.administer" | "node.backup" | "node-image.read" | "node-image.remove" | "operation.read" | "operation.cancel" | "password.change" | "project.read" | "project.update" | "project.create" | "project.share" | "project.remove" | "role.read" | "role.create" | "role.update" | "role.remove" | "schedule.read" | "schedule.write" | "schedule.run" | "schedule.manage" | "secret.read" | "secret.set" | "secret.value" | "secret.remove" | "secret.manage" | "secret.rewrap" | "server.read" | "server.debug" | "system.diagnose" | "session.read" | "session.end" | "stack.read" | "stack.apply" | "stack.remove" | "stack.signal" | "stack.plugin" | "stack.unlock" | "state.read" | "state.write" | "state.clear" | "task.read" | "task.output" | "task.env" | "task.submit" | "task.kill" | "task.pause" | "task.retry" | "task.remove" | "task.manage" | "token.read" | "token.create" | "token.revoke" | "token.manage" | "user.read" | "user.create" | "user.invite" | "user.update" | "user.remove" | "watcher.read" | "watcher.write" | "workflow.read" | "workflow.push" | "workflow.run" | "workflow.cancel" | "workflow.remove" | "workflow.manage" | "workload.read" | "workload.output" | "workload.env" | "workload.apply" | "workload.start" | "workload.stop" | "workload.restart" | "workload.remove" | "workload.exec" | "workload.manage";
        Phase: ("starting" | "running" | "stopping" | "stopped" | "completed") | "waiting" | "backoff" | "idle" | "failed" | "removed";
        /**
         * @description How one node is chosen of several.
         * @enum {string}
         */
        PickStrategy: "least-loaded" | "round-robin" | "random" | "location";
        /** @description A place in the source of a definition. Lines begin at 1; 0 says that nobody knows. */
        Place: {
            /** @default  */
            file?: string;
            /**
             * Format: uint32
             * @default 0
             */
            line?: number;
        };
        /** Format: uuid */
        PlacementId: string;
        /** @description Where a workload may run. */
        PlacementRules: {
            /** @description Only on the node of this name. */
            node?: string | null;
            /** @description Only on nodes that carry all of these labels. */
            selector?: {
                [key: string]: string;
            };
            /** @description Only on nodes for which all of these are true, such as `kernel >= 6.1` or `label.zone in (a, b)`. */
            constraints?: string[];
            /** @description Rather on nodes for which these are true; the more the better. */
            prefer?: string[];
            /** @description Only where something with one of these tags is placed already (in the same project). */
            together?: string[];
            /** @description Never where something with one of these tags is placed already (in the same project). */
            apart?: string[];
            /** @description How to choose among the nodes that fit; what the server is configured for when absent. */
            strategy?: components["schemas"]["Strategy"] | null;
            /** @description With the strategy `spread`: evenly over the values of this label instead of over nodes. */
            over?: string | null;
            /**
             * @description With the strategy `location`: the place to be near to, from the large to the small, such as
             *     `eu/berlin/rack3`. Nodes say where they are with the label `location`.
             */
            near?: string | null;
            /** @description On every node that fits, also on those that come later. */
            every?: boolean;
            /**
             * Format: uint32
             * @description On this many nodes; one when absent.
             */
            count?: number | null;
        };
        /** @description How a workload stands on one node. */
        PlacementView: {
            id: components["schemas"]["PlacementId"];
            node: string;
            nodeState: components["schemas"]["NodeState"];
            desired: components["schemas"]["Desired"];
            /** @description As the node last said; absent before it has said anything. */
            phase?: components["schemas"]["Phase"] | null;
            health?: components["schemas"]["Health"] | null;
            /**
             * Format: uint32
             * @description Of the newest run that lives.
             */
            pid?: number | null;
            run?: components["schemas"]["RunId"] | null;
            /**
             * Format: uint64
             * @description Runs since it was last changed or started by hand.
             */
            runs: number;
            /**
             * Format: uint32
             * @description Failures in a row.
             */
            failures: number;
            /**
             * Format: uint64
             * @description Scheduled times that were left out, ever.
             */
            missed: number;
            /** Format: date-time */
            next?: string | null;
            reason?: string | null;
            /** @description What should be looked at although it runs. */
            warning?: string | null;
            lastExit?: components["schemas"]["Exit"] | null;
            /**
             * Format: date-time
             * @description When the newest run that lives began.
             */
            since?: string | null;
            /**
             * Format: uint64
             * @description The revision that the node stands under.
             */
            revision: number;
        };
        /** @description What a plugin is made of. */
        PluginKind: "executable" | "lua";
        /** @description Where and how a plugin is run. */
        PluginPlace: {
            /**
             * @description On which nodes; any when nothing is said.
             * @default {}
             */
            placement?: components["schemas"]["PlacementRules"];
            /** @description As which login of the node; as tasks run when nothing is said. */
            user?: string | null;
            /**
             * @description How long a call may take: 1m when nothing is said.
             * @example 30s
             * @example 1m30s
             */
            timeout?: string | null;
            /** @default {} */
            limits?: components["schemas"]["Limits"];
            /** @description Secrets that it finds as files in the directory `HOSTLER_SECRETS`, and a file of Lua with `secrets`. */
            secrets?: string[];
        };
        /** @description What a plugin is asked for. */
        PluginVerb: ("create" | "update" | "delete") | "check" | "get" | "adopt" | "poll";
        /** @description A TCP port. */
        PortWatch: {
            /** Format: uint16 */
            port: number;
            /** @description Where it is asked for; the machine itself when absent. */
            host?: string;
            /** @description `opened`, `closed`; both when absent. */
            on?: components["schemas"]["WatchCondition"][];
        };
        /** Format: uuid */
        PrincipalId: string;
        PrincipalKind: "user" | "service" | "workload";
        /** @description The body of every error (RFC 9457, `application/problem+json`). */
        Problem: {
            /** @description Address of the code's documentation. */
            type: string;
            title: string;
            /** Format: uint16 */
            status: number;
            detail: string;
            code: components["schemas"]["Code"];
            /** @description What to do next. */
            hint: string;
            /** @description Names this request in the server's log. */
            requestId: string;
            errors?: components["schemas"]["Diagnostic"][];
        };
        ProcessOrder: ("memory" | "pid") | "cpu" | "started";
        /** @enum {string} */
        ProcessSignal: "hup" | "int" | "quit" | "kill" | "usr1" | "usr2" | "term" | "cont" | "stop";
        /** @description Processes, by name or by command line. */
        ProcessWatch: {
            /** @description What they are called, exactly; the kernel keeps 15 characters of it. */
            name?: string;
            /** @description A regular expression that fits their command lines. */
            command?: string;
            /** @description `started`, `ended`; both when absent. */
            on?: components["schemas"]["WatchCondition"][];
            /**
             * Format: uint32
             * @description How many there have to be to count as running.
             */
            count?: number;
        };
        ProjectApprovalPolicyPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name of the policy. */
            policy: string;
        };
        ProjectCreateBody: {
            name: string;
            /** @default  */
            description?: string;
            /**
             * Format: uint32
             * @description Its part of the fleet when others want it too; 1 when absent.
             */
            weight?: number | null;
            /** @description How much it may hold at once; nothing is limited when absent. */
            quota?: components["schemas"]["Quota"] | null;
        };
        ProjectHookPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name of the hook. */
            hook: string;
        };
        /** Format: uuid */
        ProjectId: string;
        ProjectInvitationPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Id of the invitation. */
            invitation: string;
        };
        ProjectPath: {
            /** @description Name or id of the project. */
            project: string;
        };
        ProjectRole: {
            project: components["schemas"]["ProjectId"];
            /** @description The project's name; absent where it is gone. */
            name?: string | null;
            /** @description The greatest built-in role that allows no more than the caller may do in the project. */
            role?: components["schemas"]["Role"] | null;
            /**
             * @description What the caller may do in the project.
             * @default []
             */
            permissions?: components["schemas"]["Permission"][];
        };
        ProjectTimelinePath: {
            /** @description Name or id of the project. */
            project: string;
            kind: components["schemas"]["ObjectKind"];
            /** @description Name or id of the object; a `/` in it is written `%2F`. */
            object: string;
        };
        /** @description What is absent stays as it is. */
        ProjectUpdateBody: {
            description?: string | null;
            /**
             * Format: uint32
             * @description Its part of the fleet when others want it too, against 1 for most.
             */
            weight?: number | null;
            /** @description How much it may hold at once from now on; what it does not name is not limited. */
            quota?: components["schemas"]["Quota"] | null;
        };
        ProjectView: {
            id: components["schemas"]["ProjectId"];
            name: string;
            description: string;
            /**
             * Format: uint32
             * @description Its part of the fleet when others want it too; 1 for most.
             * @default 1
             */
            weight?: number;
            /**
             * @description How much it may hold at once.
             * @default {}
             */
            quota?: components["schemas"]["Quota"];
            /** Format: uint64 */
            generation: number;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
        };
        /** @description When an image is fetched. */
        PullPolicy: "never" | "missing" | "always";
        /** @description A Python function to run instead of a command. */
        PythonEntry: {
            /** @description Module, looked up from the working directory first. */
            module: string;
            /**
             * @description Function in it, plain or async.
             * @default run
             */
            entry?: string;
            /** @description Passed by name. */
            params?: {
                [key: string]: unknown;
            };
            /** @default python3 */
            interpreter?: string;
        };
        /** @description A task that waits for room. */
        QueueEntry: {
            id: components["schemas"]["WorkloadId"];
            name: string;
            /**
             * Format: uint64
             * @description In its project, from 1 on.
             */
            position: number;
            /** Format: int32 */
            priority: number;
            /**
             * Format: date-time
             * @description Since when nothing but room keeps it waiting.
             */
            timeReady: string;
            /** @description The first thing that keeps it waiting, or where it goes; `explain` says all. */
            reason: string;
        };
        QueueProject: {
            project: string;
            /** Format: uint32 */
            weight: number;
            quota: components["schemas"]["Quota"];
            /** @description How many tasks are in each state that has not ended. */
            counts: {
                [key: string]: number;
            };
            /**
             * Format: double
             * @description What its tasks and workloads hold now.
             */
            cores: number;
            memory: number | string;
            /** Format: double */
            gpus: number;
            /**
             * Format: uint64
             * @description Workloads that are applied.
             * @default 0
             */
            workloads?: number;
            /**
             * Format: uint64
             * @default 0
             */
            secrets?: number;
            /**
             * @description What its blobs take, by their sizes.
             * @default 0
             */
            blobs?: number | string;
            /**
             * @description What nodes keep of the output of its runs, as they last said; counted where there is a quota.
             * @default 0
             */
            logs?: number | string;
            /**
             * @description Keys and values of its state.
             * @default 0
             */
            state?: number | string;
            /**
             * Format: uint64
             * @description Stacks, without those that are resources of others.
             * @default 0
             */
            stacks?: number;
            /** @description The first that wait for room, in the order in which they are looked at. */
            next: components["schemas"]["QueueEntry"][];
        };
        /** @description How a task waits for its turn. */
        QueueRules: {
            /**
             * Format: int32
             * @description Higher goes first; -1000 to 1000.
             */
            priority?: number;
            /** @description Other tasks of the project that have to end first. */
            after?: components["schemas"]["After"][];
            /**
             * @description Not before this much time has passed since it was submitted.
             * @example 30s
             * @example 1m30s
             */
            delay?: string | null;
            /**
             * Format: date-time
             * @description Not before this time.
             */
            notBefore?: string | null;
            /**
             * @description Given up when it has not begun this long after it could have.
             * @example 30s
             * @example 1m30s
             */
            startWithin?: string | null;
            retry?: components["schemas"]["RetryPolicy"];
            /** @description May be stopped, and put back into the queue, for one of higher priority. */
            preemptible?: boolean;
            /**
             * Format: uint32
             * @description Runs on this many nodes at once, or not at all; each run knows its rank and the others' addresses.
             */
            nodes?: number | null;
        };
        /** @description What waits and what is held, over all projects the caller may see. */
        QueueView: {
            projects: components["schemas"]["QueueProject"][];
        };
        /** @description How much a project may hold at once; what is absent is not limited. */
        Quota: {
            cores?: number | null;
            memory?: (number | string) | null;
            /** Format: uint32 */
            gpus?: number | null;
            /**
             * Format: uint64
             * @description Tasks that wait or run.
             */
            tasks?: number | null;
            /**
             * Format: uint64
             * @description Workloads that are applied.
             */
            workloads?: number | null;
            /**
             * Format: uint64
             * @description Secrets, whatever their environment.
             */
            secrets?: number | null;
            /** @description Files and outputs of tasks that are kept as blobs, by their sizes. */
            blobs?: (number | string) | null;
            /** @description Output of runs that is kept on nodes. */
            logs?: (number | string) | null;
            /** @description Keys and values of its state. */
            state?: (number | string) | null;
            /**
             * Format: uint64
             * @description Stacks, without those that are resources of others.
             */
            stacks?: number | null;
        };
        /** @description What a run waits for. */
        Readiness: {
            /** @description Such as `input train.csv` or `image hostler://train:3`. */
            what: string;
            /** @description What is done about it, such as `is being fetched`. */
            doing: string;
            /** @description How much of it is there. */
            bytes?: (number | string) | null;
            /** @description How much there is of it, once that is known. */
            total?: (number | string) | null;
            /**
             * Format: date-time
             * @description Since when, by the node's clock.
             */
            timeSince: string;
            /** @description What went wrong when it was tried last; it is tried again. */
            trouble?: string | null;
        };
        ReconcilerView: {
            name: string;
            description: string;
            /** Format: double */
            periodSeconds: number;
            isRunning: boolean;
            /** Format: uint64 */
            passes: number;
            /** Format: uint64 */
            errors: number;
            /** Format: uint64 */
            panics: number;
            /** Format: date-time */
            timeLastStarted?: string | null;
            /** Format: double */
            secondsLast: number;
            errorLast?: string | null;
            /** @description What the last pass did. */
            report: unknown;
        };
        RecoveryCodesView: {
            /** @description Shown this once. Each stands in for a code, once. */
            recoveryCodes: string[];
        };
        /** @description What is done to a resource. */
        ResourceAction: ("create" | "update" | "delete" | "suspend" | "resume" | "adopt" | "snapshot" | "check" | "rollback") | "init";
        /** @description What a workload asks of its node. */
        Resources: {
            /** @default 0.02 */
            cores?: number;
            /** @description Whole cores of its own, which nothing else that Hostler runs may use meanwhile. */
            exclusive?: boolean;
            /**
             * @description Bytes of memory.
             * @default 0
             */
            memory?: number | string;
            /** @description Bytes on the disk that holds the agent's data. */
            disk?: number | string;
            gpus?: components["schemas"]["GpuRequest"];
            /** @description Cores and memory of one NUMA node: its number, or `any` for whichever has room. */
            numa?: (number | "any") | null;
        };
        /**
         * @description After which ends a run is followed by another.
         * @enum {string}
         */
        RestartOn: "always" | "failure" | "never";
        /** @description When and how fast a workload is started again. */
        RestartPolicy: {
            /**
             * @description After which ends; absent: always for `forever`, never for `schedule` and `once`. For `times`
             *     every run counts, however it ends.
             */
            on?: components["schemas"]["RestartOn"] | null;
            /** @description Exit codes that are no failure, besides 0. */
            successCodes?: number[];
            /**
             * @description Before the first restart; zero for at once.
             * @default 1s
             * @example 30s
             * @example 1m30s
             */
            delay?: string;
            /**
             * Format: uint32
             * @description Each further restart waits this many times longer.
             * @default 2
             */
            factor?: number;
            /**
             * @description The longest wait.
             * @default 5m
             * @example 30s
             * @example 1m30s
             */
            maxDelay?: string;
            /**
             * Format: uint8
             * @description Waits vary by up to this many per cent.
             * @default 10
             */
            jitter?: number;
            /**
             * @description A run that lasted this long starts the counting anew.
             * @default 1m
             * @example 30s
             * @example 1m30s
             */
            resetAfter?: string;
            /**
             * Format: uint32
             * @description Give up after this many restarts within `window`; never when absent.
             */
            attempts?: number | null;
            /**
             * @default 10m
             * @example 30s
             * @example 1m30s
             */
            window?: string;
        };
        /** @description How a backup is put back. */
        RestoreSpec: {
            to: components["schemas"]["RestoreTo"];
            /** @description Only these paths and what is below them; everything when empty. */
            paths?: string[];
            /**
             * @description Put files in the place of those that are there; else these are left alone.
             * @default false
             */
            overwrite?: boolean;
            /**
             * @description Only say what would be different.
             * @default false
             */
            check?: boolean;
        };
        /** @description Where what is put back goes. */
        RestoreTo: {
            /** @constant */
            where: "fresh";
        } | {
            /** @constant */
            where: "directory";
            path: string;
        } | {
            /** @constant */
            where: "in-place";
        };
        /** @description How often a step is tried again, and how long it waits before that. */
        Retry: {
            /**
             * Format: uint32
             * @description Tries after the first one.
             * @default 0
             */
            retries?: number;
            /** @default exponential */
            backoff?: components["schemas"]["Backoff"];
            /**
             * @description One second when absent.
             * @example 30s
             * @example 1m30s
             */
            delay?: string | null;
            /**
             * @description Five minutes when absent.
             * @example 30s
             * @example 1m30s
             */
            maxDelay?: string | null;
            /**
             * Format: uint32
             * @description Up to this part of the delay is added, in hundredths.
             */
            jitter?: number | null;
        };
        /** @description Ends after which a task is tried again. */
        RetryOn: "failed" | "timed-out" | "out-of-memory" | "lost";
        /** @description What happens after a run that did not succeed. */
        RetryPolicy: {
            /**
             * Format: uint32
             * @description How often it is tried again.
             * @default 0
             */
            times?: number;
            /**
             * @description Wait before the first retry; doubled each time.
             * @default 1s
             * @example 30s
             * @example 1m30s
             */
            delay?: string;
            /**
             * @default 5m
             * @example 30s
             * @example 1m30s
             */
            maxDelay?: string;
            /**
             * @description After which ends.
             * @default [
             *       "failed",
             *       "timed-out",
             *       "lost"
             *     ]
             */
            on?: components["schemas"]["RetryOn"][];
        };
        /** @description Roles, each including those before it. Bound per project, or on the whole installation. */
        Role: "viewer" | "user" | "operator" | "admin";
        RoleCreateBody: {
            name: string;
            /** @default  */
            description?: string;
            /** @description Such as `task.submit`, or `task.*` for all of tasks. */
            permissions: string[];
        };
        RoleHolderView: {
            /** @description Name of the user, or `group:` and the name of the group. */
            holder: string;
            /** @description Name of the project; absent for the whole installation. */
            project?: string | null;
        };
        /** Format: uuid */
        RoleId: string;
        RolePath: {
            /** @description Name of the role. */
            role: string;
        };
        /** @description What is absent stays as it is. */
        RoleUpdateBody: {
            description?: string | null;
            /** @description Everything that it allows from now on. */
            permissions?: string[] | null;
        };
        RoleView: {
            /** @description Absent for built-in roles. */
            id?: components["schemas"]["RoleId"] | null;
            name: string;
            description: string;
            isBuiltIn: boolean;
            permissions: components["schemas"]["Permission"][];
            /** Format: uint64 */
            generation: number;
            /** Format: date-time */
            timeCreated?: string | null;
            /** Format: date-time */
            timeModified?: string | null;
        };
        /** @description Why an agent made a run. */
        RunCause: "start" | "restart" | "schedule";
        /** Format: uuid */
        RunId: string;
        /** @enum {string} */
        RunStateKind: "assigned" | "running" | "paused" | "exited" | "lost";
        RunView: {
            id: components["schemas"]["RunId"];
            /** Format: uint32 */
            attempt: number;
            nodeId: components["schemas"]["NodeId"];
            state: components["schemas"]["RunStateKind"];
            /** @description What it was given of its node. */
            given: components["schemas"]["GivenView"];
            /** Format: uint32 */
            pid?: number | null;
            exit?: components["schemas"]["Exit"] | null;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeStarted?: string | null;
            /** Format: date-time */
            timeEnded?: string | null;
        };
        /** @description What carries a workload out on its node. */
        Runtime: "process" | "container" | "lua";
        /** @description When a scheduled workload runs. */
        Schedule: {
            /**
             * @description Five fields (minute hour day month weekday) or six (with seconds first), or a nickname such as
             *     `@daily`.
             */
            cron: string;
            /**
             * @description A name of the time zone database such as `Europe/Berlin`; `UTC` when absent; `local` for the
             *     node's own.
             */
            timezone?: string;
            /**
             * @description Starts are put off by up to this, differently on every node and the same each time.
             * @example 30s
             * @example 1m30s
             */
            jitter?: string;
            /** @default forbid */
            overlap?: components["schemas"]["Overlap"];
            /** @default one */
            catchUp?: components["schemas"]["CatchUp"];
            /**
             * @description How far back catching up looks.
             * @default 1d
             * @example 30s
             * @example 1m30s
             */
            catchUpWindow?: string;
        };
        /** @description A time of a schedule, and what became of it. */
        ScheduleFireView: {
            /**
             * Format: date-time
             * @description When the schedule says; names the fire.
             */
            time: string;
            state: components["schemas"]["FireState"];
            cause: components["schemas"]["FireCause"];
            /**
             * Format: date-time
             * @description When it was to be begun: the time, put off by jitter.
             */
            timePlanned: string;
            /**
             * Format: date-time
             * @description When it was begun, or found to be missed.
             */
            timeBegun: string;
            /** Format: date-time */
            timeEnded?: string | null;
            /**
             * @description How much later than planned it was begun.
             * @example 30s
             * @example 1m30s
             */
            lateness: string;
            /**
             * Format: uint32
             * @description How many times this stands for; more than one only where they were missed.
             */
            count: number;
            /**
             * Format: date-time
             * @description The last of them.
             */
            timeLast: string;
            /** @description What was made, or what it was done to. */
            object?: components["schemas"]["ObjectRef"] | null;
            /** @description How that stands, if it is something that goes on and is still there. */
            standing?: string | null;
            /** @description Whether it ended well; absent while it goes on. */
            isGood?: boolean | null;
            /**
             * Format: uint16
             * @description What a call was answered with.
             */
            status?: number | null;
            /** @description What went wrong. */
            message?: string;
            /** @description Who asked for it. */
            askedBy?: string | null;
            /**
             * Format: uint32
             * @description How often it was tried.
             */
            tries: number;
        };
        ScheduleHistoryQuery: {
            /** @description Only those in this state. */
            state?: components["schemas"]["FireState"] | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        /** Format: uuid */
        ScheduleId: string;
        ScheduleNextQuery: {
            /**
             * Format: uint32
             * @description How many times to show (1 to 1000, default 10).
             */
            count?: number | null;
        };
        SchedulePath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name or id of the schedule; to make one, its name. */
            schedule: string;
        };
        SchedulePauseBody: {
            /** @description Why, for whoever finds it paused. */
            reason: string;
        };
        /** @description What somebody writes about a schedule: when, and what. Exactly one of `cron`, `every` and `at` is given. */
        ScheduleSpec: {
            /** @description Five fields (minute hour day month weekday) or six (with seconds first), or a nickname such as `@daily`. */
            cron?: string | null;
            /**
             * @description Again and again after this long, counted from `starts`, or from round times of UTC where that is absent.
             * @example 30s
             * @example 1m30s
             */
            every?: string | null;
            /**
             * Format: date-time
             * @description Once, at this time.
             */
            at?: string | null;
            /** @description A name of the time zone database such as `Europe/Berlin`, by which `cron` is read; `UTC` when absent. */
            timezone?: string;
            /**
             * @description Each time is put off by up to this: by how much is chosen once for each time, the same on all servers.
             * @example 30s
             * @example 1m30s
             */
            jitter?: string;
            /**
             * @description What happens when it is time and what was begun before still goes on.
             * @default forbid
             */
            overlap?: components["schemas"]["Overlap"];
            /**
             * @description What becomes of times that passed while no server was there.
             * @default one
             */
            catchUp?: components["schemas"]["CatchUp"];
            /**
             * @description How far back catching up looks.
             * @default 1d
             * @example 30s
             * @example 1m30s
             */
            catchUpWindow?: string;
            /**
             * Format: uint32
             * @description How many times at most are caught up with.
             * @default 100
             */
            catchUpLimit?: number;
            /**
             * Format: date-time
             * @description Nothing before this.
             */
            starts?: string | null;
            /**
             * Format: date-time
             * @description Nothing after this.
             */
            ends?: string | null;
            /**
             * @description What is done about a call of which nobody knows whether it was made. Everything else is done once.
             * @default at-least-once
             */
            delivery?: components["schemas"]["Delivery"];
            description?: string;
            /** @description What is done. */
            target: components["schemas"]["Action"];
        };
        ScheduleView: {
            id: components["schemas"]["ScheduleId"];
            name: string;
            /** @description When and what; values of environments and headers are hidden from those who may not see them. */
            spec: components["schemas"]["ScheduleSpec"];
            /** @description When, in words. */
            timing: string;
            /** @description What kind of thing is done... */
            kind: components["schemas"]["ActionKind"];
            /** @description ...and which, in words. */
            summary: string;
            /** @description In whose name it is done. */
            owner: string;
            /** @description Why it does nothing, if so. */
            pause?: components["schemas"]["Pause"] | null;
            /**
             * Format: date-time
             * @description When it comes next; absent when it is paused or over.
             */
            timeNext?: string | null;
            /** @description What became of its newest time. */
            last?: components["schemas"]["ScheduleFireView"] | null;
            generation: components["schemas"]["Generation"];
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
        };
        /** @description How a person stands with the second factor. */
        SecondFactorState: "off" | "on" | "required";
        SecretGenerateBody: {
            /**
             * Format: uint32
             * @description How many random bytes; the value is their base64, of letters, digits, `-` and `_`.
             */
            bytes: number;
        };
        /** Format: uuid */
        SecretId: string;
        /** @description Where the value of a secret is, outside. */
        SecretLink: {
            /** @description Name of the vault in the configuration of the servers. */
            provider: string;
            /** @description Below what the vault has for the project, such as `db/app`. */
            path: string;
            /** @description Which field of what is there; it can be left out where there is only one. */
            field?: string | null;
            /**
             * Format: uint32
             * @description As the vault counts versions; the newest when absent.
             */
            version?: number | null;
        };
        SecretListQuery: {
            /** @description Only secrets of this environment. */
            environment?: string | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        SecretPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name of the secret. */
            secret: string;
        };
        SecretQuery: {
            /** @description The environment of the secret; `default` when absent. */
            environment?: string | null;
        };
        SecretReadQuery: {
            /** @description The environment of the secret; `default` when absent. */
            environment?: string | null;
            /**
             * Format: uint32
             * @description Number of the version; the current one when absent.
             */
            version?: number | null;
        };
        SecretRewrapView: {
            /** @description Id of the present master key. */
            key: string;
            /**
             * Format: uint64
             * @description How many were sealed anew.
             */
            rewrapped: number;
            /**
             * Format: uint64
             * @description How many are left under other keys, because these keys are missing.
             */
            left: number;
        };
        /**
         * @description Any bytes are a value, so that a call which was not meant so has to be told by something else: the
         *     environment is not left out.
         */
        SecretSetQuery: {
            /** @description The environment of the secret, such as `default`. */
            environment: string;
            /** @description Only if the secret is there already. */
            mustExist?: boolean | null;
        };
        /** @description Where the value of a secret is kept. */
        SecretSource: "kept" | "linked";
        /** @description A secret, and how what runs gets it: as a variable, or as a file. */
        SecretUse: {
            /**
             * @description `NAME`, `ENVIRONMENT/NAME`, or either with `:VERSION`; without one, the version that is current
             *     when a run starts.
             */
            secret: string;
            /**
             * @description The environment variable that holds it. Not for containers, whose engine writes their variables to
             *     its disk.
             */
            env?: string | null;
            /**
             * @description The file that holds it, in the directory that `HOSTLER_SECRETS` names; `/run/secrets` in a
             *     container.
             */
            file?: string | null;
        };
        /** @description A value. Not shown by `Debug`. */
        SecretValueView: {
            environment: string;
            name: string;
            /**
             * Format: uint32
             * @description Of a link, as its vault counts; 0 where that does not.
             */
            version: number;
            /** @description The bytes in base64. */
            value: string;
        };
        SecretVersionListQuery: {
            /** @description The environment of the secret; `default` when absent. */
            environment?: string | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        SecretVersionPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name of the secret. */
            secret: string;
            /**
             * Format: uint32
             * @description Number of the version.
             */
            version: number;
        };
        SecretVersionView: {
            /** Format: uint32 */
            version: number;
            isCurrent: boolean;
            isDestroyed: boolean;
            /**
             * Format: uint32
             * @description Of the value, in bytes.
             */
            size: number;
            createdBy: components["schemas"]["Actor"];
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeDestroyed?: string | null;
        };
        /** @description A secret, without its value. */
        SecretView: {
            id: components["schemas"]["SecretId"];
            environment: string;
            name: string;
            /** @description What a workload says to have it: `NAME` or `ENVIRONMENT/NAME`. */
            reference: string;
            source: components["schemas"]["SecretSource"];
            /** @description Where it leads, if it is linked. */
            link?: components["schemas"]["SecretLink"] | null;
            /**
             * Format: uint32
             * @description The version that is meant when none is named; absent when all were destroyed, and for a link.
             */
            version?: number | null;
            createdBy: string;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
        };
        /** Format: uuid */
        ServerId: string;
        ServerView: {
            id: components["schemas"]["ServerId"];
            name: string;
            version: string;
            apiAddress: string;
            agentAddress: string;
            isCurrent: boolean;
            /** Format: date-time */
            timeStarted: string;
            /** Format: date-time */
            timeSeen: string;
        };
        ServiceVerb: ("start" | "stop" | "disable") | "restart" | "reload" | "enable";
        /** @description A unit of systemd. */
        ServiceWatch: {
            unit: string;
            /** @description `started`, `stopped`, `failed`; all of them when absent. */
            on?: components["schemas"]["WatchCondition"][];
        };
        SessionsEndedView: {
            /** Format: uint64 */
            browsers: number;
            /**
             * Format: uint64
             * @description Tokens that `hostler login` had made.
             */
            commandLines: number;
        };
        SetupBody: {
            code: string;
            /** @description Name of the first admin. */
            name: string;
            password: string;
            kind: components["schemas"]["LoginKind"];
        };
        /** @description How bad it is; the worst decides how `hostler doctor` ends. */
        Severity: "ok" | "notice" | "warning" | "critical";
        SharedChunkPath: {
            /** @description Digest of the chunk. */
            chunk: string;
        };
        /** @description Why a step did not run. */
        SkipReason: "condition" | "dependency" | "no-failure" | "ended" | "not-selected";
        /** @description What is done to a stack as a whole. */
        StackAction: ("create" | "update" | "delete" | "suspend" | "resume" | "snapshot") | "rollback" | "adopt" | "check" | "restore";
        StackAdoptBody: {
            name: components["schemas"]["StackName"];
            /** @description What export or abandon answered, or its text. */
            document: unknown;
            /**
             * @description Lies over what is in the document.
             * @default {}
             */
            form?: components["schemas"]["StackFormBody"];
            /** @default {} */
            options?: components["schemas"]["StackOptions"];
            /** @description Why; it stands at the revision, in events and in the audit trail. */
            reason?: string;
        };
        StackCancelBody: {
            /**
             * @description Undo what the update has done.
             * @default false
             */
            rollback?: boolean;
        };
        /** @description What would become of a resource. */
        StackChangeKind: ("create" | "delete" | "unchanged") | "adopt" | "update" | "replace" | "forget" | "impossible";
        /** @description What a change of a stack would do. */
        StackChanges: {
            action: components["schemas"]["StackAction"];
            /** @description In the order in which it could be done, with those that stay as they are. */
            resources: components["schemas"]["StackResourceChange"][];
            /** @default [] */
            parameters?: components["schemas"]["StackValueChange"][];
            /** @default [] */
            outputs?: components["schemas"]["StackValueChange"][];
            /** @default [] */
            warnings?: string[];
        };
        /** @description What is looked over before something is begun with a stack. */
        StackCheckKind: ("syntax" | "permissions" | "disk" | "network") | "dependencies" | "existence" | "lock";
        /** @description One line of what was looked over. */
        StackCheckLine: {
            check: components["schemas"]["StackCheckKind"];
            result: components["schemas"]["StackCheckResult"];
            /** @description Why. */
            message: string;
        };
        /** @description What was found. */
        StackCheckResult: ("passed" | "failed") | "skipped";
        StackChecklistView: {
            /** @description Absent where no stack was named. */
            stack?: components["schemas"]["StackName"] | null;
            /** @description Nothing failed. */
            isPassed: boolean;
            lines: components["schemas"]["StackCheckLine"][];
        };
        StackCompareQuery: {
            /** @description A revision, such as `v3`, the id of a snapshot, or `now`. */
            from: string;
            /** @description The same; `now` when absent. */
            to?: string | null;
        };
        /** @description In what two points in time differ. */
        StackComparisonView: {
            /** @description `now`, `v3`, or the id of a snapshot. */
            from: string;
            to: string;
            resources: components["schemas"]["StackResourceChange"][];
            parameters: components["schemas"]["StackValueChange"][];
            outputs: components["schemas"]["StackValueChange"][];
        };
        StackCreateBody: {
            name: components["schemas"]["StackName"];
            form: components["schemas"]["StackFormBody"];
            /** @default {} */
            options?: components["schemas"]["StackOptions"];
            /** @description Why; it stands at the revision, in events and in the audit trail. */
            reason?: string;
        };
        StackDefinitionQuery: {
            /**
             * Format: uint32
             * @description Number of the revision; what the stack is or goes towards when absent.
             */
            revision?: number | null;
        };
        /** @description What a stack is made of, or was. Values of hidden parameters are hidden from who may not change the stack. */
        StackDefinitionView: {
            /** @description As a document. */
            template: unknown;
            /** @description Merged from everything that was given. */
            environment: unknown;
            files?: {
                [key: string]: unknown;
            };
            createdBy: components["schemas"]["Actor"];
            /** Format: date-time */
            timeCreated: string;
        };
        StackDependenciesView: {
            stack: components["schemas"]["StackName"];
            uses: components["schemas"]["StackUseView"][];
            usedBy: components["schemas"]["StackUseView"][];
        };
        StackDependencyCheckQuery: {
            /** @description Only of this stack, by name or by id. */
            stack?: string | null;
        };
        StackDependencyGraphView: {
            stacks: components["schemas"]["StackDependenciesView"][];
            /** @description Each wave can be made when those before are there. */
            order: components["schemas"]["StackName"][][];
            /** @description Stacks that wait for each other, each for the next; empty where there is no circle. */
            circle?: string[];
        };
        StackDependencyOrderBody: {
            /** @description Which stacks; all of the project when empty. */
            stacks: components["schemas"]["StackName"][];
        };
        StackDocumentView: {
            document: unknown;
        };
        /** @description What was found of one object. */
        StackDriftItem: {
            name: string;
            /** @description Resources of the stacks above that this one lies in, from the top. */
            path?: string[];
            kind: string;
            physical?: string | null;
            drift: components["schemas"]["StackDriftKind"];
            /** @description As the stack says, and as it is. */
            properties?: components["schemas"]["StackValueChange"][];
            message?: string;
        };
        /** @description How an object differs from what its stack says. */
        StackDriftKind: "in-sync" | "configuration" | "missing" | "extra" | "state" | "dependency" | "unknown";
        /** @description How far the objects of a stack are from what it says. */
        StackDriftView: {
            /** @description Whether there is something to put right. */
            isDrifted: boolean;
            /** @description Nothing was changed since it was looked at. */
            isCurrent: boolean;
            /**
             * Format: uint32
             * @description How many objects were looked at.
             */
            looked: number;
            /**
             * Format: uint32
             * @description How many of them are not as the stack says.
             */
            changed: number;
            /**
             * Format: uint32
             * @description How many are not there at all.
             */
            missing: number;
            /**
             * Format: uint32
             * @description How many could not be looked at.
             */
            unknown: number;
            /** @description Each of them, without secrets. */
            items: components["schemas"]["StackDriftItem"][];
            /**
             * Format: date-time
             * @description When it was looked at.
             */
            time: string;
        };
        /** @description One edition of the template language. */
        StackEditionView: {
            /** @description The key under which a template says it... */
            key: string;
            /** @description ...and what it says there... */
            version: string;
            /** @description ...or may say instead. */
            alias?: string | null;
            /** @description Names of the functions that values may have. */
            functions: string[];
            /** @description Names of the functions that conditions may have. */
            conditions: string[];
        };
        /** Format: uuid */
        StackEventId: string;
        StackEventQuery: {
            /**
             * Format: uint32
             * @description Also of stacks that are resources of this one, so many below each other.
             */
            depth?: number | null;
            /** @description Only of the resource with this name. */
            resource?: string | null;
            /** @description Only those that stand so. */
            status?: components["schemas"]["StackStatus"] | null;
            /** @description The newest first. */
            newest?: boolean | null;
            /** @description Id of an event: only what happened after it, or, with `newest`, before it. Instead of `cursor`. */
            after?: components["schemas"]["StackEventId"] | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /**
             * @description `nextCursor` of the page before; with `watch`, the id of an event that is known, such as the cursor of the last message
             *     seen: what happened after it is told, and without one everything that is kept.
             */
            cursor?: string | null;
            /** @description Keep the connection open and stream what happens, the oldest first. */
            watch?: boolean | null;
        };
        /** @description Something that happened to a stack or to one of its resources. */
        StackEventView: {
            id: components["schemas"]["StackEventId"];
            /** Format: date-time */
            time: string;
            /** @description The stack that it is of: this one, or one that is a resource of it. */
            stack: components["schemas"]["StackId"];
            /** @description Name of the resource; absent where it is about the stack as a whole. */
            resource?: string | null;
            /** @description The type of the resource, or of the stack. */
            type: string;
            /** @description What it is in the world. */
            physical?: string | null;
            /** @description `create`, `update`, `delete`... or `signal`. */
            action: string;
            status: components["schemas"]["StackStatus"];
            reason: string;
            /** @description Of what failed; without what is secret. */
            properties?: unknown;
        };
        /** @description What a stack is to be made of: YAML or JSON, as texts. */
        StackFormBody: {
            /** @description Of at most 512 KiB. It may be absent only where that says that it stays as it is. */
            template?: string | null;
            /** @description Parameters, defaults, and which types are which others. */
            environment?: string | null;
            /** @description Names of `files` that are environments, each merged over those before; `environment` does not count then. */
            environmentFiles?: string[];
            /** @description Texts that templates and environments name, by the name that they have there. */
            files?: {
                [key: string]: string;
            };
            /** @description Values of parameters; they win over those of environments. */
            parameters?: {
                [key: string]: unknown;
            };
        };
        StackFormCheckBody: {
            /** @description What the stack is, or is to be, called. */
            name?: components["schemas"]["StackName"] | null;
            form: components["schemas"]["StackFormBody"];
        };
        /** @description One resource needs another. */
        StackGraphEdge: {
            /** @description The one that needs... */
            from: string;
            /** @description ...the other, which is there before it and goes after it. */
            to: string;
        };
        StackGraphNode: {
            name: string;
            type: string;
            action: components["schemas"]["ResourceAction"];
            status: components["schemas"]["StackStatus"];
            /** @description The stack that it is. */
            child?: components["schemas"]["StackId"] | null;
        };
        /** @description Resources, and which of them need which others. */
        StackGraphView: {
            /** @description In the order of the template. */
            nodes: components["schemas"]["StackGraphNode"][];
            edges: components["schemas"]["StackGraphEdge"][];
        };
        /**
         * @description Before or after what is done to a resource.
         * @enum {string}
         */
        StackHook: "pre-create" | "pre-update" | "pre-delete" | "post-create" | "post-update" | "post-delete";
        StackHookPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name or id of the stack. */
            stack: string;
            /** @description Name of the resource, or what it is in the world. */
            resource: string;
            hook: components["schemas"]["StackHook"];
        };
        /** @description A resource that waits at a hook. */
        StackHookView: {
            /** @description The stack that the resource is of: this one, or one below it. */
            stack: components["schemas"]["StackName"];
            stackId: components["schemas"]["StackId"];
            resource: string;
            hook: components["schemas"]["StackHook"];
        };
        /** Format: uuid */
        StackId: string;
        StackListQuery: {
            /** @description Only the one of this name. */
            name?: string | null;
            /** @description Only those with this tag. */
            tag?: string | null;
            /** @description Only those to which this is done, or was done last. */
            action?: components["schemas"]["StackAction"] | null;
            /** @description Only those that stand so. */
            status?: components["schemas"]["StackStatus"] | null;
            /** @description Also those that are resources of others. */
            nested?: boolean | null;
            /** @description Also those that are gone, as long as they are remembered. */
            deleted?: boolean | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        StackLockForceBody: {
            /** @description Why it is taken away: 1 to 1000 characters. */
            reason: string;
        };
        StackLockPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name or id of the stack. */
            stack: string;
            /** @description Id of the hold, chosen by who asks: a fresh UUID for every time that the lock is wanted. */
            hold: components["schemas"]["LockHoldId"];
        };
        StackLockReleaseQuery: {
            /** @description Id of the hold; the caller's own when absent. */
            hold?: components["schemas"]["LockHoldId"] | null;
        };
        StackLockView: {
            isHeld: boolean;
            /** @description Absent where nobody used it lately. */
            lock?: components["schemas"]["LockDetailView"] | null;
        };
        StackMarkBody: {
            /** @description Whether it is broken. */
            unhealthy: boolean;
            /** @description Why. */
            reason?: string;
        };
        /** @description A letter, and then up to 254 letters, digits, `_`, `-` and `.`. */
        StackName: string;
        /** @description What is chosen for a stack besides what it is made of. */
        StackOptions: {
            /** @description A change that fails is undone. */
            isRollbackEnabled?: boolean;
            /**
             * @description How long a change may take.
             * @example 30s
             * @example 1m30s
             */
            timeout?: string | null;
            tags?: string[];
            /** @description What was changed behind its back is found and put right by an update. */
            converges?: boolean;
            /**
             * Format: uint32
             * @description How many resources are worked on at once.
             */
            atOnce?: number | null;
            /**
             * @description How often it is looked at by itself whether its objects are as it says.
             * @example 30s
             * @example 1m30s
             */
            driftEvery?: string | null;
        };
        /** @description What is chosen anew; what is absent stays as it is. */
        StackOptionsBody: {
            /** @description A change that fails is undone. */
            isRollbackEnabled?: boolean | null;
            /**
             * @description How long a change may take.
             * @example 30s
             * @example 1m30s
             */
            timeout?: string | null;
            tags?: string[] | null;
            /** @description What was changed behind its back is found and put right by an update. */
            converges?: boolean | null;
            /**
             * Format: uint32
             * @description How many resources are worked on at once.
             */
            atOnce?: number | null;
            /**
             * @description How often it is looked at by itself whether its objects are as it says.
             * @example 30s
             * @example 1m30s
             */
            driftEvery?: string | null;
        };
        StackOrderView: {
            waves: components["schemas"]["StackName"][][];
        };
        StackOutputView: {
            name: string;
            description?: string;
            value?: unknown;
            /** @description Why there is no value. */
            error?: string | null;
        };
        StackPatchBody: {
            /** @default {} */
            form?: components["schemas"]["StackFormBody"];
            /** @description Names of parameters whose values are forgotten. */
            clearParameters?: string[];
            /** @default {} */
            options?: components["schemas"]["StackOptionsBody"];
            /** @description Why; it stands at the revision, in events and in the audit trail. */
            reason?: string;
        };
        StackPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name or id of the stack. */
            stack: string;
        };
        /** @description What would be done. */
        StackPlanBody: {
            create: components["schemas"]["StackCreateBody"];
        } | {
            update: {
                /** @description Name or id of the stack. */
                stack: string;
                form: components["schemas"]["StackFormBody"];
                /** @default {} */
                options?: components["schemas"]["StackOptionsBody"];
                /** @description Why; it stands at the revision, in events and in the audit trail. */
                reason?: string;
            };
        } | {
            patch: {
                /** @description Name or id of the stack. */
                stack: string;
                form: components["schemas"]["StackFormBody"];
                /** @description Names of parameters whose values are forgotten. */
                clearParameters?: string[];
                /** @default {} */
                options?: components["schemas"]["StackOptionsBody"];
                /** @description Why; it stands at the revision, in events and in the audit trail. */
                reason?: string;
            };
        } | {
            remove: {
                /** @description Name or id of the stack. */
                stack: string;
                /**
                 * @description Also when other stacks use its outputs.
                 * @default false
                 */
                force?: boolean;
                /** @description Why; it stands at the revision, in events and in the audit trail. */
                reason?: string;
            };
        } | {
            restore: {
                /** @description Name or id of the stack. */
                stack: string;
                /** @description A revision, such as `v3`, or the id of a snapshot. */
                point: string;
                /** @description Why; it stands at the revision, in events and in the audit trail. */
                reason?: string;
            };
        } | {
            fix: {
                /** @description Name or id of the stack. */
                stack: string;
                /** @description Why; it stands at the revision, in events and in the audit trail. */
                reason?: string;
            };
        };
        /** Format: uuid */
        StackPlanId: string;
        StackPlanListQuery: {
            /** @description Only of this stack, by name or by id. */
            stack?: string | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        StackPlanPath: {
            /** @description Name or id of the project. */
            project: string;
            plan: components["schemas"]["StackPlanId"];
        };
        StackPlanView: {
            id: components["schemas"]["StackPlanId"];
            stack: components["schemas"]["StackName"];
            stackId: components["schemas"]["StackId"];
            /** @description Of the stack when the plan was made; 0 where there was none. */
            base: components["schemas"]["Generation"];
            /** @description Of everything that would be done. */
            digest: string;
            /** @description What would be done, without secrets. */
            changes: components["schemas"]["StackChanges"];
            createdBy: components["schemas"]["Actor"];
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeExpires: string;
            /**
             * Format: date-time
             * @description When it was applied.
             */
            timeUsed?: string | null;
        };
        StackPluginExecutable: {
            /** @description Name of the file, for messages. */
            file: string;
            /** @description Its content, which the project has already. */
            blob: string;
        };
        StackPluginListQuery: {
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        StackPluginPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name of the plugin. */
            plugin: string;
        };
        /** @description A program, or a file of Lua. */
        StackPluginPushBody: {
            name: string;
            /** @description A program that speaks lines of JSON. */
            executable?: components["schemas"]["StackPluginExecutable"] | null;
            /** @description A file of Lua that returns a table of types. */
            lua?: components["schemas"]["WorkflowBundle"] | null;
            /**
             * @description Where and how it is run.
             * @default {
             *       "placement": {},
             *       "limits": {}
             *     }
             */
            place?: components["schemas"]["PluginPlace"];
        };
        StackPluginTypeView: {
            description: string;
            properties: string[];
            attributes: string[];
            /** @description What it can do besides creating and deleting. */
            verbs: components["schemas"]["PluginVerb"][];
        };
        /** @description One version of a plugin. */
        StackPluginView: {
            name: string;
            /** Format: uint32 */
            version: number;
            kind: components["schemas"]["PluginKind"];
            file: string;
            /** @description Of the program, or of the text with what it imports. */
            artefact: string;
            /** @description By name. `stack_type_get` tells more of each. */
            types: {
                [key: string]: components["schemas"]["StackPluginTypeView"];
            };
            place: components["schemas"]["PluginPlace"];
            createdBy: string;
            /** Format: date-time */
            timeCreated: string;
        };
        StackRemoveQuery: {
            /** @description Also when other stacks use its outputs. */
            force?: boolean | null;
            /** @description Why; it stands in events and in the audit trail. */
            reason?: string | null;
        };
        /** @description What would become of one resource. */
        StackResourceChange: {
            name: string;
            /** @description Resources of the stacks above that this one lies in, from the top. */
            path?: string[];
            /** @description Its type, as the template has it. */
            kind: string;
            change: components["schemas"]["StackChangeKind"];
            /** @description What it is in the world. */
            physical?: string | null;
            /**
             * @description It depends on what is known only when it is done, and may turn out to be unchanged.
             * @default false
             */
            isUncertain?: boolean;
            /** @description Why; empty where there is nothing to say. */
            reason?: string;
            properties?: components["schemas"]["StackValueChange"][];
        };
        /** Format: uuid */
        StackResourceId: string;
        StackResourceListQuery: {
            /**
             * Format: uint32
             * @description Also of stacks that are resources of this one, so many below each other.
             */
            depth?: number | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        StackResourcePath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name or id of the stack. */
            stack: string;
            /** @description Name of the resource, or what it is in the world. */
            resource: string;
        };
        StackResourceView: {
            id: components["schemas"]["StackResourceId"];
            /** @description In the template. */
            name: string;
            type: string;
            /** @description The stack that it is of: this one, or one below it. */
            stack: components["schemas"]["StackName"];
            stackId: components["schemas"]["StackId"];
            /** @description The resource of the stack above that its stack is. */
            parentResource?: string | null;
            /** @description The stack that it is. */
            child?: components["schemas"]["StackId"] | null;
            /** @description What it is in the world. */
            physical?: string | null;
            /** @description What is done to it, or was done last. */
            action: components["schemas"]["ResourceAction"];
            status: components["schemas"]["StackStatus"];
            reason?: string;
            /** @description What somebody has in hand now. */
            underWay?: components["schemas"]["DeedKind"] | null;
            /** @description Where it waits for somebody to let it go on. */
            hook?: components["schemas"]["StackHook"] | null;
            /** @description Names of those that need it. */
            requiredBy?: string[];
            /** @description What becomes of the object when the resource goes. */
            deletionPolicy: components["schemas"]["DeletionPolicy"];
            description?: string;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
            /** @description Not in lists. */
            metadata?: unknown;
            /** @description As it was made or last changed with. Not in lists. */
            properties?: unknown;
            /** @description What others may ask of it. Not in lists. */
            attributes?: {
                [key: string]: unknown;
            };
        };
        StackRestoreBody: {
            /** @description A revision, such as `v3`, or the id of a snapshot. */
            point: string;
            /** @description Why; it stands at the revision, in events and in the audit trail. */
            reason?: string;
        };
        StackRevisionPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name or id of the stack. */
            stack: string;
            /**
             * Format: uint32
             * @description Number of the revision.
             */
            revision: number;
        };
        /** @description What a stack was as a whole, under a number. */
        StackRevisionView: {
            /** Format: uint32 */
            number: number;
            /** @description What led to it. */
            action: components["schemas"]["StackAction"];
            /** @description Why somebody made it. */
            reason?: string;
            /**
             * Format: uint32
             * @description How many resources there were.
             */
            count: number;
            createdBy: components["schemas"]["Actor"];
            /** Format: date-time */
            timeCreated: string;
            /** @description By name: type, physical id, state, metadata, data, properties. Not in lists. */
            resources?: {
                [key: string]: unknown;
            };
            /** @description Not in lists. */
            outputs?: {
                [key: string]: unknown;
            };
        };
        StackSignalBody: {
            /** @description What is told to it: any document that it understands. */
            data?: unknown;
        };
        StackSignalView: {
            /** @description What it answers to whoever waits for that. */
            answer?: unknown;
        };
        StackSnapshotBody: {
            /**
             * @description To find it again.
             * @default
             */
            name?: string;
        };
        /** Format: uuid */
        StackSnapshotId: string;
        StackSnapshotPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name or id of the stack. */
            stack: string;
            snapshot: components["schemas"]["StackSnapshotId"];
        };
        /** @description The objects of a stack as they were when somebody asked for it. */
        StackSnapshotView: {
            id: components["schemas"]["StackSnapshotId"];
            name?: string;
            status: components["schemas"]["StackStatus"];
            reason: string;
            createdBy: components["schemas"]["Actor"];
            /** Format: date-time */
            timeCreated: string;
            /** @description By name: type, physical id, state, metadata, data, properties. Not in lists. */
            resources?: {
                [key: string]: unknown;
            };
            /** @description Not in lists. */
            outputs?: {
                [key: string]: unknown;
            };
        };
        /** @description What is being done, or was done last, how far it is, and why. */
        StackStanding: {
            action: components["schemas"]["StackAction"];
            status: components["schemas"]["StackStatus"];
            reason: string;
        };
        /**
         * @description How far it is.
         * @enum {string}
         */
        StackStatus: "in-progress" | "complete" | "failed";
        StackTemplateCheckBody: {
            form: components["schemas"]["StackFormBody"];
            /**
             * @description Parameters without a value are wrong.
             * @default false
             */
            needsValues?: boolean;
            /**
             * @description Also tell of templates below it.
             * @default false
             */
            nested?: boolean;
        };
        /** @description What a template says, where nothing is wrong with it. */
        StackTemplateView: {
            /**
             * Format: uint64
             * @description How many resources it has.
             */
            resources: number;
            /** @description Its description, parameters and groups of them. */
            summary: unknown;
            /** @description What is odd, with where it is. */
            warnings?: string[];
        };
        StackTypeDetailView: {
            name: string;
            /** @description The type that it is another name of. */
            of?: string | null;
            description?: string;
            /** @description Properties, attributes, and since when there is such a thing. */
            schema: unknown;
            /** @description Takes and gives what a resource of this type does. */
            template: unknown;
        };
        StackTypeListQuery: {
            /** @description Only those whose name has this in it, in whatever case. */
            name?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        StackTypePath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name of the type, such as `OS::Heat::Value`. */
            type: string;
        };
        StackTypeView: {
            name: string;
            /** @description The type that it is another name of. */
            of?: string | null;
            description?: string;
        };
        StackUpdateBody: {
            form: components["schemas"]["StackFormBody"];
            /** @default {} */
            options?: components["schemas"]["StackOptionsBody"];
            /** @description Why; it stands at the revision, in events and in the audit trail. */
            reason?: string;
        };
        /** @description What one stack uses of another. */
        StackUseView: {
            /** @description The other one. */
            stack: components["schemas"]["StackName"];
            outputs: string[];
            /** @description Whether that stack is there... */
            isThere: boolean;
            /** @description ...and which of the outputs it does not give. */
            missing?: string[];
        };
        /** @description One value that differs: a property, a parameter or an output. */
        StackValueChange: {
            /** @default  */
            name?: string;
            /** @description Absent where there was none. */
            before?: unknown;
            /** @description Absent where there is none, or where it is not known yet. */
            after?: unknown;
            /**
             * @description What it will be is known when it is done.
             * @default false
             */
            isUnknown?: boolean;
            /**
             * @description The values are hidden.
             * @default false
             */
            isSecret?: boolean;
            /**
             * @description Because of it another object takes the place of this one.
             * @default false
             */
            replaces?: boolean;
        };
        StackView: {
            id: components["schemas"]["StackId"];
            name: components["schemas"]["StackName"];
            description?: string;
            /** @description What is done to it, or was done last; how far that is, and why. */
            standing: components["schemas"]["StackStanding"];
            /** @description Grows with every change that is asked for; the ETag. */
            traversal: components["schemas"]["Generation"];
            /**
             * Format: uint32
             * @description Number of its newest revision; 0 before there is one.
             */
            revision: number;
            options: components["schemas"]["StackOptions"];
            /** @description The stack that it is a resource of. */
            parent?: components["schemas"]["StackId"] | null;
            /**
             * Format: uint32
             * @description How many stacks are above it.
             * @default 0
             */
            depth?: number;
            /** @description In whose name it acts; not in lists. */
            owner?: string | null;
            /** @description With those that every template has; hidden ones hidden. Not in lists. */
            parameters?: {
                [key: string]: unknown;
            };
            /** @description Not in lists. */
            outputs?: components["schemas"]["StackOutputView"][];
            /** @description Why what it is to be cannot be read. */
            trouble?: string | null;
            /** Format: date-time */
            timeCreated: string;
            /**
             * Format: date-time
             * @description When the last change but its creation was asked for.
             */
            timeUpdated?: string | null;
            /**
             * Format: date-time
             * @description When what is under way, or was last, was asked for.
             */
            timeBegun: string;
            /**
             * Format: date-time
             * @description When what is under way is given up.
             */
            timeDeadline?: string | null;
            /** Format: date-time */
            timeDeleted?: string | null;
        };
        /** @description How a step stands. Times are since the beginning of the execution. */
        Standing: "waiting" | {
            running: {
                /** Format: uint32 */
                attempt: number;
                /**
                 * @example 30s
                 * @example 1m30s
                 */
                since: string;
            };
        } | {
            resting: {
                /** Format: uint32 */
                attempt: number;
                /**
                 * @example 30s
                 * @example 1m30s
                 */
                until: string;
            };
        } | {
            ended: components["schemas"]["StepEnd"];
        } | {
            skipped: components["schemas"]["SkipReason"];
        };
        /** @description What a transaction came to. */
        StateAnswerView: {
            /** @description Whether every condition held. */
            held: boolean;
            /**
             * Format: uint64
             * @description Of this transaction; the newest before it where it changed nothing.
             */
            revision: number;
            /** @description One for every operation that was done. */
            results: components["schemas"]["StateResultView"][];
        };
        /** @description What happened to an entry. */
        StateChangeKind: "put" | "touched" | "deleted" | "expired";
        /** @description One change of an entry: what histories are made of, and what a watch tells. */
        StateChangeView: {
            kind: components["schemas"]["StateChangeKind"];
            namespace: string;
            key: string;
            /** Format: uint64 */
            revision: number;
            /**
             * Format: uint64
             * @description Of the change of this entry before; 0 when this is the first.
             */
            previous: number;
            /** Format: uint64 */
            createRevision: number;
            /** Format: uint64 */
            version: number;
            /** @description Of a `put`. */
            value?: string | null;
            encoding?: components["schemas"]["StateEncoding"] | null;
            owner: components["schemas"]["Actor"];
            /** Format: date-time */
            time: string;
            /** Format: date-time */
            timeExpires?: string | null;
        };
        StateClearedView: {
            /**
             * Format: uint64
             * @description Entries that went.
             */
            entries: number;
        };
        /** @description What has to be true of an entry. */
        StateCompareBody: {
            if: components["schemas"]["StateQuestion"];
            /** @description `default` when absent. */
            namespace?: string | null;
            key: string;
            is?: components["schemas"]["StateRelation"] | null;
            /** Format: uint64 */
            number?: number | null;
            value?: string | null;
            encoding?: components["schemas"]["StateEncoding"] | null;
        };
        StateDeleteQuery: {
            key: string;
            /**
             * Format: uint64
             * @description Only if its revision is this.
             */
            ifRevision?: number | null;
        };
        StateDeletedView: {
            /**
             * Format: uint64
             * @description Of the deletion.
             */
            revision: number;
        };
        /**
         * @description How a value is written in a document.
         * @enum {string}
         */
        StateEncoding: "text" | "base64";
        /**
         * @description An end of a list.
         * @enum {string}
         */
        StateEnd: "front" | "back";
        /** @description An entry. */
        StateEntryView: {
            namespace: string;
            key: string;
            /** @description Absent where it was not asked for. */
            value?: string | null;
            /** @description `base64` where the value is not text. */
            encoding?: components["schemas"]["StateEncoding"] | null;
            /**
             * Format: uint64
             * @description Of the value, in bytes.
             */
            size: number;
            /**
             * Format: uint64
             * @description Of its last change.
             */
            revision: number;
            /**
             * Format: uint64
             * @description Of the change that made it.
             */
            createRevision: number;
            /**
             * Format: uint64
             * @description How often it was changed since it was made.
             */
            version: number;
            /** @description Who changed it last. */
            owner: components["schemas"]["Actor"];
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
            /** Format: date-time */
            timeExpires?: string | null;
        };
        StateHistoryQuery: {
            key: string;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        StateKeyQuery: {
            key: string;
        };
        /** @description A line that a server sends on a stream: what became of the request with this number. */
        StateLine: {
            /** Format: uint64 */
            id: number;
            answer?: components["schemas"]["StateAnswerView"] | null;
            /** @description Nothing was changed, unless its code is `unavailable`: then nobody knows. */
            problem?: components["schemas"]["StateProblem"] | null;
        };
        StateListQuery: {
            /** @description Only keys that begin with this. */
            prefix?: string | null;
            /** @description With their values; `limit` is at most 100 then. */
            values?: boolean | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before; with `watch`, the revision after which to begin. */
            cursor?: string | null;
            /** @description Stream changes instead of listing. */
            watch?: boolean | null;
        };
        StateNamespacePath: {
            /** @description Name or id of the project. */
            project: string;
            namespace: string;
        };
        StateNamespaceView: {
            name: string;
            /** Format: uint64 */
            entries: number;
            /**
             * Format: uint64
             * @description Keys and values.
             */
            bytes: number;
        };
        /** @description One operation. Which fields it has depends on `op`. */
        StateOpBody: {
            op: components["schemas"]["StateVerb"];
            /** @description `default` when absent. */
            namespace?: string | null;
            key: string;
            value?: string | null;
            encoding?: components["schemas"]["StateEncoding"] | null;
            /**
             * @description After this long it is gone.
             * @example 30s
             * @example 1m30s
             */
            ttl?: string | null;
            /** @description It stays: for `touch`, `increment` and `push`, which otherwise leave its time as it is. */
            never?: boolean | null;
            /** Format: int64 */
            by?: number | null;
            items?: unknown[];
            /** @description `back` when absent. */
            end?: components["schemas"]["StateEnd"] | null;
            /** Format: uint32 */
            count?: number | null;
        };
        /** @description Why a request of a stream failed. */
        StateProblem: {
            code: components["schemas"]["Code"];
            detail: string;
            /** @description What to do next. */
            hint: string;
            errors?: components["schemas"]["Diagnostic"][];
        };
        StatePutQuery: {
            key: string;
            /**
             * @description After this long it is gone; when absent it stays.
             * @example 30s
             * @example 1m30s
             */
            ttl?: string | null;
            /**
             * Format: uint64
             * @description Only if its revision is this.
             */
            ifRevision?: number | null;
            /** @description Only if there is none yet. */
            ifAbsent?: boolean | null;
        };
        /** @description What is asked about an entry. */
        StateQuestion: ("present" | "absent") | "revision" | "create-revision" | "version" | "value";
        /**
         * @description How a number or a value has to stand to another.
         * @enum {string}
         */
        StateRelation: "equal" | "not-equal" | "less" | "greater";
        /** @description What one operation came to. */
        StateResultView: {
            /**
             * Format: uint64
             * @description Of the entry after it; 0 where there is none.
             * @default 0
             */
            revision?: number;
            /**
             * Format: uint64
             * @description How often the entry was changed; 0 where there is none.
             * @default 0
             */
            version?: number;
            /** @description Of a `get`. */
            entry?: components["schemas"]["StateEntryView"] | null;
            /** @description Of a `delete`: whether there was one. */
            deleted?: boolean | null;
            /**
             * Format: int64
             * @description Of an `increment`.
             */
            number?: number | null;
            /**
             * Format: uint64
             * @description Of a list, after it.
             */
            length?: number | null;
            /** @description Of a `pop`. */
            items?: unknown[];
        };
        /** @description All or nothing. */
        StateTxnBody: {
            /** @description All of them have to hold. */
            compare?: components["schemas"]["StateCompareBody"][];
            /**
             * @description What is done when they do.
             * @default []
             */
            then?: components["schemas"]["StateOpBody"][];
            /** @description What is done when one does not. */
            else?: components["schemas"]["StateOpBody"][];
        };
        /** @description What is done with an entry. */
        StateVerb: ("get" | "delete" | "length") | "put" | "touch" | "increment" | "push" | "pop";
        Step: {
            name: string;
            state: components["schemas"]["StepState"];
            /** @description Progress in words while it runs, the result afterwards. */
            message: string;
            /** @description What came of it, for programs; the kind of the operation says what it is. */
            result?: unknown;
            /** Format: date-time */
            timeStarted?: string | null;
            /** Format: date-time */
            timeEnded?: string | null;
        };
        /** @description One step of a workflow. */
        Step2: {
            /**
             * @description Unique in its workflow.
             * @default
             */
            name?: string;
            description?: string;
            /** @default nothing */
            act?: components["schemas"]["Act"];
            /** @description Steps that have to succeed, or to be skipped by their own condition, before this one runs. */
            dependsOn?: string[];
            /** @description It runs only when one of these has failed. */
            afterFailureOf?: string[];
            /**
             * @example 30s
             * @example 1m30s
             */
            timeout?: string | null;
            retry?: components["schemas"]["Retry"];
            /** @description Skipped unless all of these hold where it runs. */
            runIf?: components["schemas"]["Condition"][];
            /** @description When one of these holds, the step fails and the whole execution ends. */
            abortIf?: components["schemas"]["Condition"][];
            delegate?: components["schemas"]["Delegation"] | null;
            workdir?: string | null;
            user?: string | null;
            /** @description What runs text commands, with `-c`; `sh` when absent. */
            shell?: string | null;
            env?: {
                [key: string]: string;
            };
            params?: {
                [key: string]: unknown;
            };
            tags?: string[];
            /** @description Patterns of files below its working directory that later steps can consume. */
            artifacts?: string[];
            /** @description Names of artifacts that are put into its working directory before it runs. */
            consumes?: string[];
            /** @description What is called around it, by kind. */
            handlers?: components["schemas"]["Handler"][];
            /** @description Asked after it succeeded; it has failed if the answer is no. */
            healthCheck?: components["schemas"]["Condition"] | null;
            /** @description It takes none of the places of those that run at once. */
            background?: boolean;
            /** @description Its failure is told, but counts as success for others and for the execution. */
            mayFail?: boolean;
            /** @description What undoes it when a later step fails and the workflow says so. */
            compensation?: components["schemas"]["Compensation"] | null;
            place?: components["schemas"]["Place"];
        };
        /** @description How a try of a step ended. */
        StepEnd: ("succeeded" | "failed") | "timed-out" | "skipped" | "aborted" | "cancelled" | "uncertain";
        /** @description What a step gave to others. */
        StepOutputView: {
            /** @description Where it ran. */
            node?: string | null;
            end: string;
            message?: string;
            output?: unknown;
        };
        /** @enum {string} */
        StepState: "waiting" | "running" | "succeeded" | "failed" | "skipped";
        /** @description A task that an execution submitted. */
        StepTaskView: {
            id: components["schemas"]["WorkloadId"];
            /** @description `try` or `undo`. */
            kind: string;
            /**
             * Format: uint32
             * @description Which try, from 1.
             */
            try: number;
            /** @description The node that was asked for, where one was. */
            node?: string | null;
            /** @description How it ended; absent while it is under way. */
            end?: string | null;
        };
        /** @description How a run is stopped: the signal, then after the grace period SIGKILL. */
        StopPolicy: {
            /** @default SIGTERM */
            signal?: components["schemas"]["StopSignal"];
            /**
             * @default 10s
             * @example 30s
             * @example 1m30s
             */
            grace?: string;
        };
        /**
         * @description Signals that ask a process to end.
         * @enum {string}
         */
        StopSignal: "SIGTERM" | "SIGINT" | "SIGQUIT" | "SIGHUP" | "SIGUSR1" | "SIGUSR2" | "SIGKILL";
        /** @description How to choose among the nodes that fit. */
        Strategy: "most-free" | "bin-pack" | "spread" | "round-robin" | "least-loaded" | "location";
        /** @description Which nodes are meant. */
        Targets: "any" | {
            nodes: string[];
        } | {
            labels: {
                [key: string]: string;
            };
        } | {
            all: {
                [key: string]: string;
            };
        } | "function";
        /** @description A task to be submitted. */
        TaskAction: {
            /** @description What the names of the tasks begin with; the program when absent. */
            name?: string | null;
            spec: components["schemas"]["WorkloadSpec"];
        };
        TaskBatchBody: {
            tasks: components["schemas"]["TaskSubmitBody"][];
        };
        TaskBatchView: {
            /** @description The tasks that were made, in the order they were given. */
            tasks: components["schemas"]["TaskRef"][];
        };
        TaskGetQuery: {
            /**
             * @description Wait at most this long (up to 60s) for the task to end.
             * @example 30s
             * @example 1m30s
             */
            wait?: string | null;
        };
        TaskKillBody: {
            /**
             * @description Overrides the task's own grace period.
             * @example 30s
             * @example 1m30s
             */
            grace?: string | null;
        };
        TaskListQuery: {
            /** @description Only tasks in this state. */
            state?: components["schemas"]["TaskStateKind"] | null;
            /** @description Only tasks of this array (name or id). */
            array?: string | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before; with `watch`, the `watchCursor` of a list or of the last message seen. */
            cursor?: string | null;
            /** @description Stream changes instead of listing. */
            watch?: boolean | null;
        };
        TaskPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name or id of the task. */
            task: string;
        };
        TaskRef: {
            id: components["schemas"]["WorkloadId"];
            name: string;
        };
        /** @enum {string} */
        TaskStateKind: "pending_approval" | "rejected" | "pending" | "assigning" | "running" | "paused" | "completed" | "failed" | "killed" | "killed_oom" | "stopped" | "lost";
        TaskStatus: {
            state: components["schemas"]["TaskStateKind"];
            /** @description The state in words, with the reason where there is one. */
            message: string;
            /** @description True once somebody asked for it to stop. */
            isStopping: boolean;
            node?: string | null;
            run?: components["schemas"]["RunId"] | null;
            /** Format: uint32 */
            pid?: number | null;
            exit?: components["schemas"]["Exit"] | null;
            /** Format: date-time */
            timeStarted?: string | null;
            /** Format: date-time */
            timeEnded?: string | null;
        };
        TaskSubmitBody: {
            /** @description Unique in the project; made from the command when absent. */
            name?: string | null;
            spec: components["schemas"]["WorkloadSpec"];
        };
        TaskView: {
            id: components["schemas"]["WorkloadId"];
            name: string;
            project: string;
            spec: components["schemas"]["WorkloadSpec"];
            /** @description Its place in an array. */
            array?: components["schemas"]["ArraySeat"] | null;
            /**
             * Format: uint32
             * @description How often it was given to a node.
             */
            attempts: number;
            /**
             * Format: date-time
             * @description From when on it may be placed; absent while it waits for other tasks.
             */
            timeReady?: string | null;
            status: components["schemas"]["TaskStatus"];
            /** @description Id of the trace that it was submitted in (W3C Trace Context), 32 hex digits. */
            trace?: string | null;
            createdBy: string;
            /** Format: uint64 */
            generation: number;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
        };
        TcpCheck: {
            /** @default 127.0.0.1 */
            host?: string;
            /** Format: uint16 */
            port: number;
        };
        TemperatureFact: {
            /**
             * @description As the kernel names it, such as `cpu_thermal` or `coretemp Package id 0`.
             * @default
             */
            sensor?: string;
            /**
             * Format: double
             * @description Degrees Celsius.
             * @default 0
             */
            celsius?: number;
            /**
             * Format: double
             * @description Where the machine protects itself, in degrees Celsius.
             */
            critical?: number | null;
        };
        /** @description When a figure counts as too high or too low: exactly one of `above` and `below`. */
        Threshold: {
            /** Format: double */
            above?: number | null;
            /** Format: double */
            below?: number | null;
            /**
             * @description It has to be so at every look for this long.
             * @example 30s
             * @example 1m30s
             */
            for?: string;
            /**
             * Format: double
             * @description Where it counts as over, so that a figure that goes up and down around the threshold is told once: 5 on the
             *     other side of it when absent, or a tenth of it for the load.
             */
            clear?: number | null;
        };
        /** @description A row of a timeline. */
        TimelineEntry: {
            /** Format: date-time */
            time: string;
            source: components["schemas"]["TimelineSource"];
            /** @description The kind of the event, the action of the audit entry, or how the run, the fire or the delivery stands. */
            what: string;
            /** @description What it is about, where that is something else than the timeline's object. */
            object: components["schemas"]["ObjectRef"];
            /** @description One sentence for people. */
            message: string;
            actor?: components["schemas"]["Actor"] | null;
            /** @description What caused it, where that is known. */
            cause?: string | null;
            /**
             * @description Names it among those of its source: the number of the event or the audit entry, the id of the run, the schedule
             *     and the time, the hook and the number of the event.
             */
            id: string;
        };
        TimelineFindQuery: {
            /** @description Name or id of the object, of whatever kind. */
            object: string;
        };
        /** @description A source that the caller may not see. */
        TimelineLeftOut: {
            source: components["schemas"]["TimelineSource"];
            /** @description The permission that it takes. */
            needs: string;
        };
        TimelinePath: {
            kind: components["schemas"]["ObjectKind"];
            /** @description Name or id of the object; a `/` in it is written `%2F`. */
            object: string;
        };
        TimelineQuery: {
            /**
             * Format: date-time
             * @description Not before this time.
             */
            since?: string | null;
            /**
             * Format: date-time
             * @description Before this time.
             */
            until?: string | null;
            /** @description Only from these sources, with commas between them: event, node, run, fire, delivery, audit. */
            sources?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100). A page may have fewer, or none, although more follow.
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        /**
         * @description Where a row of a timeline is from. In the order in which rows of the same moment are shown, what follows before
         *     what it follows from.
         */
        TimelineSource: "event" | "node" | "run" | "fire" | "delivery" | "audit";
        /** @description A part of a timeline. */
        TimelineView: {
            /** @description What it is about. */
            object: components["schemas"]["ObjectRef"];
            /** @description Newest first. */
            items: components["schemas"]["TimelineEntry"][];
            /** @description Pass it as `cursor` to get what follows; absent at the end. */
            nextCursor?: string | null;
            /** @description What may have something to say and was not asked. */
            leftOut?: components["schemas"]["TimelineLeftOut"][];
            /**
             * Format: date-time
             * @description Events before this time, which were asked for too, are not kept any more.
             */
            keptSince?: string | null;
        };
        TokenCreateBody: {
            name: string;
            /** @description For whom; the caller when absent. */
            user?: string | null;
            /** @description The token can never do more than this role; may be left out where `can` says what it is for. */
            role?: components["schemas"]["Role"] | null;
            /** @description The token works in this project only. */
            project?: string | null;
            /** @description The token works in these projects only. */
            projects?: string[] | null;
            /** @description The token is for these permissions only, such as `task.submit`, or `task.*` for all of tasks. */
            can?: string[] | null;
            /** @description The token works from these addresses only, such as `10.0.0.0/8`. */
            from?: string[] | null;
            /**
             * @description How long it is valid; 90 days when absent, at most 10 years.
             * @example 30s
             * @example 1m30s
             */
            ttl?: string | null;
        };
        TokenCreatedView: {
            token: components["schemas"]["TokenView"];
            /** @description Shown this once. */
            secret: string;
        };
        /** Format: uuid */
        TokenId: string;
        TokenPath: {
            /** @description Id of the token. */
            token: string;
        };
        TokenView: {
            id: components["schemas"]["TokenId"];
            name: string;
            user: string;
            role: components["schemas"]["Role"];
            /** @description The one project it works in, where there is one only. */
            project?: string | null;
            /** @description The projects it works in; absent for all of them. */
            projects?: string[] | null;
            /** @description What it is for; absent where only its role narrows it. */
            can?: components["schemas"]["Permission"][] | null;
            /** @description Where it may be used from; absent for anywhere. */
            from?: string[] | null;
            isRevoked: boolean;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeExpires?: string | null;
            /** Format: date-time */
            timeLastUsed?: string | null;
        };
        TotpConfirmBody: {
            /** @description Six digits. */
            code: string;
        };
        TotpDisableBody: {
            password: string;
            /** @description Six digits, or a recovery code. */
            code: string;
        };
        TotpEnrolBody: {
            /** @description The caller's password: a session alone is not enough. */
            password: string;
        };
        TotpEnrolledView: {
            /** @description Shown this once, in base32, to be typed into an authenticator. */
            secret: string;
            /** @description The same as a link that authenticators open. */
            uri: string;
        };
        TotpView: {
            state: components["schemas"]["SecondFactorState"];
            /** Format: uint64 */
            recoveryCodesLeft: number;
            /** Format: date-time */
            timeConfirmed?: string | null;
        };
        /** @description What a workload or a node used in the time up to `time`. */
        UsageSample: {
            /**
             * Format: date-time
             * @description The end of the stretch that it speaks for.
             * @default 1970-01-01T00:00:00.000000Z
             */
            time?: string;
            /**
             * Format: double
             * @description Length of the stretch.
             * @default 0
             */
            seconds?: number;
            /**
             * Format: double
             * @description Cores, on average.
             * @default 0
             */
            cpu?: number;
            /**
             * @description The most that was seen.
             * @default 0
             */
            memory?: number | string;
            /**
             * Format: double
             * @description Bytes a second, on average.
             * @default 0
             */
            diskRead?: number;
            /**
             * Format: double
             * @default 0
             */
            diskWritten?: number;
            /**
             * Format: double
             * @description Of a node only: bytes a second over all its interfaces but loopback.
             */
            netReceived?: number | null;
            /** Format: double */
            netSent?: number | null;
            /** @description Of a node only: what its data directory's disk holds. */
            diskUsed?: (number | string) | null;
            /**
             * Format: double
             * @description Of a node only: its hottest sensor, in degrees Celsius.
             */
            temperature?: number | null;
            /**
             * Format: uint32
             * @description Processes and threads, at most.
             */
            pids?: number | null;
        };
        UserCreateBody: {
            name: string;
            /** @description `user` needs a password, `service` cannot have one. */
            kind: components["schemas"]["PrincipalKind"];
            password?: string | null;
            /** @description Role on the whole installation, if any. */
            role?: string | null;
        };
        UserIdentityAddBody: {
            /** @description What the provider calls the person: the claim `sub`. */
            subject: string;
        };
        UserIdentityRemoveBody: {
            issuer: string;
            subject: string;
        };
        UserIdentityView: {
            issuer: string;
            subject: string;
            /** @description As the provider last said, if it has checked it. */
            email?: string;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeLastUsed?: string | null;
        };
        UserPath: {
            /** @description Name or id of the user. */
            user: string;
        };
        UserSessionPath: {
            /** @description Name or id of the user. */
            user: string;
            session: string;
        };
        UserUpdateBody: {
            isDisabled?: boolean | null;
            password?: string | null;
            /** @description New role on the whole installation; `none` takes it away. */
            role?: string | null;
        };
        UserView: {
            id: components["schemas"]["PrincipalId"];
            name: string;
            kind: components["schemas"]["PrincipalKind"];
            /** @description Role on the whole installation that is bound to the user itself; groups may give more. */
            role?: string | null;
            isDisabled: boolean;
            /** Format: uint64 */
            generation: number;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
        };
        /** @description A vault that secrets of the project can lead to. */
        VaultView: {
            name: string;
            /** @description `hashicorp` or `exec`. */
            kind: string;
            /** @description What comes before the path of a link; paths of the project are all below it. */
            prefix: string;
        };
        VersionView: {
            version: string;
            /** @description Of this API. */
            apiVersion: string;
            serverId: components["schemas"]["ServerId"];
            /** @description True until the first admin exists; the dashboard then offers setup. */
            needsSetup: boolean;
        };
        /**
         * @description What a finding is about.
         * @enum {string}
         */
        Vital: "load" | "memory" | "swap" | "disk" | "inodes" | "services" | "clock" | "temperature" | "reboot" | "certificate" | "processes";
        /** @description What is looked at. */
        Watch: {
            file: components["schemas"]["FileWatch"];
        } | {
            directory: components["schemas"]["DirectoryWatch"];
        } | {
            process: components["schemas"]["ProcessWatch"];
        } | {
            port: components["schemas"]["PortWatch"];
        } | {
            command: components["schemas"]["CommandWatch"];
        } | {
            log: components["schemas"]["LogWatch"];
        } | {
            cpu: components["schemas"]["Threshold"];
        } | {
            memory: components["schemas"]["Threshold"];
        } | {
            disk: components["schemas"]["DiskWatch"];
        } | {
            load: components["schemas"]["Threshold"];
        } | {
            service: components["schemas"]["ServiceWatch"];
        } | {
            certificate: components["schemas"]["CertificateWatch"];
        };
        /** @description What a watcher fires on. */
        WatchCondition: "created" | "changed" | "removed" | "started" | "ended" | "stopped" | "opened" | "closed" | "failed" | "recovered" | "output-changed" | "matches" | "above" | "below" | "expires";
        /** Format: uuid */
        WatcherId: string;
        /** @description How a watcher stands on a node, as the node told when that last changed. */
        WatcherNodeView: {
            node: string;
            state: components["schemas"]["WatcherState"];
            /** @description What it saw when it told. */
            seen?: string;
            /** @description Why it cannot look. */
            trouble?: string | null;
            /**
             * Format: uint64
             * @description News that were given up, because no server took them for too long.
             */
            lost: number;
            /**
             * Format: date-time
             * @description When it told how the watcher stands.
             */
            timeTold?: string | null;
        };
        WatcherPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name or id of the watcher; to make one, its name. */
            watcher: string;
        };
        /** @description What somebody wrote about a watcher. */
        WatcherSpec: {
            description?: string;
            /** @description Only on these nodes. */
            nodes?: string[];
            /** @description Only on nodes that have all these labels. */
            selector?: {
                [key: string]: string;
            };
            /** @description What is looked at. */
            watch: components["schemas"]["Watch"];
            /**
             * @description From one look to the next; what is usual for what is looked at when absent.
             * @example 30s
             * @example 1m30s
             */
            interval?: string | null;
            /**
             * @description For so long after it fired it does not fire again on the same node; what would have is counted.
             * @example 30s
             * @example 1m30s
             */
            cooldown?: string;
        };
        /** @description How a watcher stands on a node. */
        WatcherState: "off" | "pending" | "looking" | "firing" | "trouble";
        WatcherView: {
            id: components["schemas"]["WatcherId"];
            name: string;
            spec: components["schemas"]["WatcherSpec"];
            /** @description What is looked at and what it fires on, in words. */
            summary: string;
            /** @description Whose rights it needs. */
            owner: string;
            isEnabled: boolean;
            /** @description Why no node looks, if so. */
            hindrance?: string | null;
            /**
             * Format: uint64
             * @description Nodes that are to look.
             */
            looking: number;
            /**
             * Format: uint64
             * @description Of these, on how many a level is told of that is not over.
             */
            firing: number;
            /**
             * Format: uint64
             * @description Of these, how many cannot look.
             */
            trouble: number;
            /** @description The nodes that it is for, by name. */
            nodes: components["schemas"]["WatcherNodeView"][];
            generation: components["schemas"]["Generation"];
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
        };
        /** Format: uuid */
        WebSessionId: string;
        WebSessionPath: {
            session: string;
        };
        WebSessionView: {
            id: components["schemas"]["WebSessionId"];
            userAgent: string;
            isCurrent: boolean;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeLastUsed: string;
            /** Format: date-time */
            timeExpires: string;
        };
        /** @description A call that tells of an event. */
        WebhookAction: {
            /** @description The address; or see `urlSecret`. */
            url?: string;
            /** @description A secret that is the address, for addresses that nobody is to see. */
            urlSecret?: string | null;
            /** @description Without credentials: those are secrets. */
            headers?: {
                [key: string]: string;
            };
            /** @description A secret that is sent as bearer token. */
            bearer?: string | null;
            /** @description A secret that the call is signed with: HMAC-SHA-256 of time and body. */
            sign?: string | null;
            /** @description What is sent. */
            format?: components["schemas"]["WebhookFormat"];
            /** @description For the format `template`: what is sent, with `{{ object.name }}` and the like filled in. */
            template?: string;
            /** @description For the format `email`: to whom. */
            to?: string[];
        };
        /** @description What a webhook is sent. */
        WebhookFormat: "event" | "slack" | "email" | "plain" | "template";
        WhoamiView: {
            id: components["schemas"]["PrincipalId"];
            name: string;
            kind: components["schemas"]["PrincipalKind"];
            /** @description The greatest built-in role that allows no more than the caller may do on the whole installation. */
            role?: components["schemas"]["Role"] | null;
            /**
             * @description What the caller may do on the whole installation, and so in every project.
             * @default []
             */
            permissions?: components["schemas"]["Permission"][];
            projects: components["schemas"]["ProjectRole"][];
            /**
             * @description `required` means that nothing is allowed before there is one.
             * @default off
             */
            secondFactor?: components["schemas"]["SecondFactorState"];
            /** @description Given to browsers again, so that a reloaded page can make changes. */
            csrfToken?: string | null;
        };
        /** @description One workflow of a definition. */
        Workflow: {
            /** @default  */
            name?: string;
            description?: string;
            version?: string;
            /**
             * @description In the order of the definition.
             * @default []
             */
            steps?: components["schemas"]["Step2"][];
            config?: components["schemas"]["WorkflowConfig"];
            /** @description Where steps run that do not say it themselves. */
            delegate?: components["schemas"]["Delegation"] | null;
            /** @description What is called around the execution, by kind. */
            handlers?: components["schemas"]["Handler"][];
            /** @description The stack that it is about, if any. */
            stack?: string | null;
            metadata?: {
                [key: string]: unknown;
            };
            place?: components["schemas"]["Place"];
        };
        /** @description A workflow to be carried out. */
        WorkflowAction: {
            name: string;
            /**
             * Format: uint32
             * @description The newest at that time when absent.
             */
            version?: number | null;
            values?: unknown;
            options?: components["schemas"]["ExecutionOptions"];
        };
        /** @description The text of a file and of what it imports. */
        WorkflowBundle: {
            /** @description Name of the file, for messages. */
            name: string;
            text: string;
            /**
             * @description Others, by their name relative to the first. What is below `NAME@VERSION//` is of a module that the project
             *     keeps; it is never given when something is pushed.
             */
            files?: {
                [key: string]: string;
            };
        };
        /** @description How a workflow is carried out. */
        WorkflowConfig: {
            /**
             * @example 30s
             * @example 1m30s
             */
            timeout?: string | null;
            /**
             * Format: uint32
             * @description How many steps run at once at most.
             */
            maxParallel?: number | null;
            /** @description The first failure ends the execution. */
            failFast?: boolean;
            onFailure?: components["schemas"]["OnFailure"];
            /** @description For every step that does not say its own. */
            env?: {
                [key: string]: string;
            };
            workdir?: string | null;
            /** @description Steps that run in one place have a directory that was made for the execution, where `workdir` names none. */
            ownWorkdir?: boolean;
            /** @description The directory of the workflow is removed when it has succeeded. */
            cleanWorkdir?: boolean;
            requireLock?: boolean;
            /**
             * @description How long the lock of the stack is waited for.
             * @example 30s
             * @example 1m30s
             */
            lockTimeout?: string | null;
            createSnapshot?: boolean;
            validateBefore?: boolean;
            detectDrift?: boolean;
        };
        WorkflowListQuery: {
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before. */
            cursor?: string | null;
        };
        WorkflowPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name of the workflow. */
            workflow: string;
        };
        WorkflowPushBody: {
            bundle: components["schemas"]["WorkflowBundle"];
            /** @description What the file sees as `values` while it is looked at: an object. Every execution has its own. */
            values?: unknown;
            /**
             * @description What is only warned of otherwise is a mistake.
             * @default false
             */
            strict?: boolean;
        };
        /** @description What became of a file. */
        WorkflowPushed: {
            workflows: components["schemas"]["WorkflowView"][];
            /** @description What is odd, with where it is. */
            warnings: string[];
        };
        WorkflowQuery: {
            /**
             * Format: uint32
             * @description Number of the version; the newest when absent.
             */
            version?: number | null;
        };
        WorkflowRunBody: {
            /**
             * Format: uint32
             * @description Number of the version; the newest when absent.
             */
            version?: number | null;
            /** @description What the file sees as `values`: an object. */
            values?: unknown;
            /** @default {} */
            options?: components["schemas"]["ExecutionOptions"];
        };
        /** @description One version of a workflow. */
        WorkflowView: {
            name: string;
            /** Format: uint32 */
            version: number;
            /** @description Of the text. */
            bundle: string;
            file: string;
            /** @description Modules of the project that are part of it, as they were when it was kept. */
            modules?: components["schemas"]["ModuleRef"][];
            createdBy: string;
            /** Format: date-time */
            timeCreated: string;
            /** @description The graph, as it was when the file was kept, with the values of then. */
            graph: components["schemas"]["Workflow"];
        };
        /** @description Something done to a workload. */
        WorkloadAction: {
            name: string;
            verb: components["schemas"]["WorkloadVerb"];
        };
        WorkloadExecBody: {
            /** @description Program and arguments, run as they stand; looked up in the workload's PATH. */
            command: string[];
            /** @description Name or id of the node; needed when the workload runs on several. */
            node?: string | null;
            /** @description What the command reads, base64; nothing when absent. */
            stdin?: string | null;
            /**
             * @description The command is killed when it takes longer.
             * @example 30s
             * @example 1m30s
             */
            timeout?: string | null;
        };
        /** @description Why a workload is where it is. */
        WorkloadExplanation: {
            phase: components["schemas"]["WorkloadPhase"];
            /** @description One sentence. */
            summary: string;
            nodes: components["schemas"]["WorkloadNodeExplanation"][];
            /** @description What would help. */
            hints: string[];
        };
        /** Format: uuid */
        WorkloadId: string;
        WorkloadListQuery: {
            /** @description Only workloads of this mode. */
            mode?: components["schemas"]["ModeKind"] | null;
            /** @description Only workloads that carry this tag. */
            tag?: string | null;
            /** @description Only workloads that stand so; pages may be shorter than asked for, and even empty before the last. */
            phase?: components["schemas"]["WorkloadPhase"] | null;
            /**
             * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
             *     be empty although more follow.
             */
            filter?: string | null;
            /**
             * Format: uint32
             * @description At most this many items (1 to 1000, default 100).
             */
            limit?: number | null;
            /** @description `nextCursor` of the page before; with `watch`, the `watchCursor` of a list or of the last message seen. */
            cursor?: string | null;
            /** @description Stream changes instead of listing. */
            watch?: boolean | null;
        };
        /** @description One line of the answer to `workload_logs`. */
        WorkloadLogLine: {
            /** @constant */
            type: "data";
            node?: string | null;
            stream: components["schemas"]["OutputStream"];
            /** Format: date-time */
            time: string;
            data: string;
            cursor: string;
        } | {
            /** @constant */
            type: "mark";
            node?: string | null;
            /** Format: date-time */
            time?: string | null;
            detail: string;
            cursor: string;
        } | {
            /** @constant */
            type: "gap";
            node?: string | null;
            detail: string;
        } | {
            /** @constant */
            type: "end";
            complete: boolean;
        };
        WorkloadLogsQuery: {
            /** @description Only from this node (name or id). */
            node?: string | null;
            /** @description Only of this run. */
            run?: components["schemas"]["RunId"] | null;
            /** @description Go on with what comes, from one run into the next. */
            follow?: boolean | null;
            /**
             * Format: uint32
             * @description The last so many lines of each node.
             */
            tail?: number | null;
            /**
             * Format: date-time
             * @description Lines that began at this time or later.
             */
            since?: string | null;
            /**
             * Format: date-time
             * @description Lines that began before this time, or at it.
             */
            until?: string | null;
            /** @description Lines in which this regular expression is found. */
            grep?: string | null;
            /** @description Only this stream. */
            stream?: components["schemas"]["OutputStream"] | null;
            /** @description Begin after the lines that carried these cursors: the newest of each node, joined by commas. */
            cursor?: string | null;
        };
        WorkloadNextQuery: {
            /**
             * Format: uint32
             * @description How many times to show (1 to 1000, default 10).
             */
            count?: number | null;
            /** @description Only on this node (name or id); over all its nodes when absent. */
            node?: string | null;
        };
        WorkloadNodeExplanation: {
            node: string;
            labels: {
                [key: string]: string;
            };
            /** @description How it stands there, when it is there. */
            standing?: string | null;
            /** @description Whether it could be there. */
            isFitting: boolean;
            /** @description What speaks against it. */
            reasons: string[];
        };
        WorkloadPath: {
            /** @description Name or id of the project. */
            project: string;
            /** @description Name or id of the workload; to apply one, its name. */
            workload: string;
        };
        /** @description How a workload stands, over all its nodes. */
        WorkloadPhase: ("starting" | "stopping" | "stopped" | "completed") | "pending" | "waiting" | "running" | "partly-running" | "backoff" | "idle" | "failed" | "removing" | "unknown";
        WorkloadRunView: {
            id: components["schemas"]["RunId"];
            node: string;
            /**
             * Format: uint32
             * @description The how-manieth run on its node.
             */
            number: number;
            cause?: components["schemas"]["RunCause"] | null;
            /**
             * Format: date-time
             * @description The time it was scheduled for.
             */
            fire?: string | null;
            state: components["schemas"]["RunStateKind"];
            /** Format: uint32 */
            pid?: number | null;
            exit?: components["schemas"]["Exit"] | null;
            /** Format: date-time */
            timeStarted?: string | null;
            /** Format: date-time */
            timeEnded?: string | null;
        };
        /** @description A workload as its user describes it. */
        WorkloadSpec: {
            /** @default process */
            runtime?: components["schemas"]["Runtime"];
            /** @default once */
            mode?: components["schemas"]["Mode"];
            /**
             * @description Program and arguments, run as they stand (no shell). The program is looked up in the node's
             *     PATH. Either this or `python`.
             */
            command?: string[];
            /** @description A Python function to run instead of a command. */
            python?: components["schemas"]["PythonEntry"] | null;
            /** @description Environment variables added to the node's minimal set (PATH, HOME, USER, HOSTLER_*). */
            env?: {
                [key: string]: string;
            };
            /** @description Secrets that it is given when it starts. */
            secrets?: components["schemas"]["SecretUse"][];
            /** @description Tokens with which what runs proves what it is: to Hostler, and to others. */
            identity?: components["schemas"]["Identity"] | null;
            /** @description Working directory on the node; the run's own scratch directory when absent. */
            workdir?: string | null;
            /** @description Login name on the node to run as; the agent's own user when absent. */
            user?: string | null;
            /** @description Group to run as; the user's own when absent. */
            group?: string | null;
            /** @description Permissions that new files do not get, in octal; `022` when absent. */
            umask?: string | null;
            /**
             * @description Stop a run that takes longer.
             * @example 30s
             * @example 1m30s
             */
            timeout?: string | null;
            restart?: components["schemas"]["RestartPolicy"];
            /**
             * @default {
             *       "signal": "SIGTERM",
             *       "grace": "10s"
             *     }
             */
            stop?: components["schemas"]["StopPolicy"];
            limits?: components["schemas"]["Limits"];
            /** @description It is healthy when all of these say so. */
            health?: components["schemas"]["HealthCheck"][];
            /** @description Others on the same node that have to be there first. */
            depends?: components["schemas"]["Dependency"][];
            hooks?: components["schemas"]["Hooks"];
            logs?: components["schemas"]["LogPolicy"];
            /** @description Words to find it by. */
            tags?: string[];
            /** @description Version of what it runs, for people. */
            version?: string | null;
            /** @description The container it runs in, with the runtime `container`. */
            container?: components["schemas"]["Container"] | null;
            /** @description Files that are there before it starts; for tasks. */
            inputs?: components["schemas"]["Input"][];
            /** @description Files that are kept when it has ended; for tasks. */
            outputs?: components["schemas"]["Output"][];
            /**
             * @default {
             *       "cores": 0.02,
             *       "memory": 0
             *     }
             */
            resources?: components["schemas"]["Resources"];
            /** @default {} */
            placement?: components["schemas"]["PlacementRules"];
            /** @description How it waits for its turn; for tasks. */
            queue?: components["schemas"]["QueueRules"];
        };
        WorkloadStatus: {
            phase: components["schemas"]["WorkloadPhase"];
            /**
             * Format: uint32
             * @description Nodes on which it does what it should.
             */
            ready: number;
            /**
             * Format: uint32
             * @description Nodes on which it should.
             */
            wanted: number;
            /** @description Of all that have said something: unhealthy when one is. */
            health?: components["schemas"]["Health"] | null;
            /**
             * Format: uint64
             * @description Runs that were made because one had ended, since it was last changed or started by hand.
             */
            restarts: number;
            /** @description Why, where that needs words. */
            reason?: string | null;
            /**
             * Format: date-time
             * @description When it will be started next.
             */
            next?: string | null;
        };
        WorkloadUsageQuery: {
            /** @description Name or id of the node; needed when the workload is on several. */
            node?: string | null;
            /**
             * Format: date-time
             * @description From this time on; everything there is when absent.
             */
            since?: string | null;
        };
        /**
         * @description What can be done to a workload by itself.
         * @enum {string}
         */
        WorkloadVerb: "start" | "stop" | "restart";
        WorkloadView: {
            id: components["schemas"]["WorkloadId"];
            name: string;
            project: string;
            spec: components["schemas"]["WorkloadSpec"];
            /** @description What its user wants. */
            desired: components["schemas"]["Desired"];
            /**
             * Format: uint64
             * @description Grows when what runs is to be replaced.
             */
            revision: number;
            /** Format: uint64 */
            generation: number;
            status: components["schemas"]["WorkloadStatus"];
            /** @description Where it is, by node. */
            placements: components["schemas"]["PlacementView"][];
            createdBy: string;
            /** Format: date-time */
            timeCreated: string;
            /** Format: date-time */
            timeModified: string;
        };
        /** @description What the agent and its shims have written to disk today; a day is one of UTC. */
        WriteMetrics: {
            /** @default 0 */
            today?: number | string;
            /**
             * @description Since the agent started.
             * @default 0
             */
            total?: number | string;
            /** @description What was declared to be the most for a day. */
            budget?: (number | string) | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    livez: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthView"];
                };
            };
        };
    };
    readyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthView"];
                };
            };
        };
    };
    version: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionView"];
                };
            };
        };
    };
    openapi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        [key: string]: unknown;
                    };
                };
            };
        };
    };
    metrics: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/openmetrics-text": string;
                };
            };
        };
    };
    metrics_nodes: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/openmetrics-text": string;
                };
            };
        };
    };
    metrics_workloads: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/openmetrics-text": string;
                };
            };
        };
    };
    metrics_history: {
        parameters: {
            query?: {
                /** @description Names of figures, separated by commas, such as `cpu.used,cpu.total`; without it all of them. */
                series?: string;
                /** @description From when on; without it an hour ago. The longer ago, the longer the stretches. */
                since?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MetricsHistoryView"];
                };
            };
        };
    };
    server_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing"];
                };
            };
        };
    };
    reconciler_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing2"];
                };
            };
        };
    };
    diagnose: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiagnosisView"];
                };
            };
        };
    };
    backup_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing3"];
                };
            };
        };
    };
    backup_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BackupCreateBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
    backup_schedule_show: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackupScheduleView"];
                };
            };
        };
    };
    backup_schedule_run: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackupScheduleView"];
                };
            };
        };
    };
    authority_trusted: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorityTrustedView"];
                };
            };
        };
    };
    authority_show: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorityView"];
                };
            };
        };
    };
    authority_rotate: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorityView"];
                };
            };
        };
    };
    authority_abort: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorityView"];
                };
            };
        };
    };
    authority_finish: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AuthorityFinishBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuthorityView"];
                };
            };
        };
    };
    openid_configuration: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiscoveryView"];
                };
            };
        };
    };
    jwks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JwksView"];
                };
            };
        };
    };
    setup: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetupBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginView"];
                };
            };
        };
    };
    login: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LoginBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginView"];
                };
            };
        };
    };
    logout: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    whoami: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhoamiView"];
                };
            };
        };
    };
    password_change: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordChangeBody"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    web_session_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing4"];
                };
            };
        };
    };
    web_session_end_others: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionsEndedView"];
                };
            };
        };
    };
    web_session_end: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    user_session_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing4"];
                };
            };
        };
    };
    user_session_end_all: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionsEndedView"];
                };
            };
        };
    };
    user_session_end: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the user. */
                user: string;
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    oidc_show: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OidcView"];
                };
            };
        };
    };
    oidc_begin: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OidcBegunView"];
                };
            };
        };
    };
    oidc_finish: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OidcFinishBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginView"];
                };
            };
        };
    };
    user_identity_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing5"];
                };
            };
        };
    };
    user_identity_add: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserIdentityAddBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserIdentityView"];
                };
            };
        };
    };
    user_identity_remove: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserIdentityRemoveBody"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    totp_show: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TotpView"];
                };
            };
        };
    };
    totp_enrol: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TotpEnrolBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TotpEnrolledView"];
                };
            };
        };
    };
    totp_confirm: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TotpConfirmBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecoveryCodesView"];
                };
            };
        };
    };
    totp_disable: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TotpDisableBody"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    totp_reset: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    invitation_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing6"];
                };
            };
        };
    };
    invitation_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationCreateBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationCreatedView"];
                };
            };
        };
    };
    invitation_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the invitation. */
                invitation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    project_invitation_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing6"];
                };
            };
        };
    };
    project_invitation_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationCreateBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationCreatedView"];
                };
            };
        };
    };
    project_invitation_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Id of the invitation. */
                invitation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    invitation_show: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationShowBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InvitationOfferView"];
                };
            };
        };
    };
    invitation_accept: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["InvitationAcceptBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginView"];
                };
            };
        };
    };
    password_reset_issue: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordResetIssueBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasswordResetView"];
                };
            };
        };
    };
    password_reset_use: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PasswordResetUseBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PasswordResetUsedView"];
                };
            };
        };
    };
    user_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing7"];
                };
            };
        };
    };
    user_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserCreateBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserView"];
                };
            };
        };
    };
    user_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserView"];
                };
            };
        };
    };
    user_remove: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    user_update: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UserUpdateBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserView"];
                };
            };
        };
    };
    member_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing8"];
                };
            };
        };
    };
    member_set: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                /** @description Name or id of the user, or `group:` and the name of a group. */
                user: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MemberSetBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemberView"];
                };
            };
        };
    };
    member_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                project: string;
                /** @description Name or id of the user, or `group:` and the name of a group. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    role_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing9"];
                };
            };
        };
    };
    role_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoleCreateBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoleView"];
                };
            };
        };
    };
    role_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the role. */
                role: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoleView"];
                };
            };
        };
    };
    role_remove: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name of the role. */
                role: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    role_update: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name of the role. */
                role: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RoleUpdateBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RoleView"];
                };
            };
        };
    };
    role_holders: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the role. */
                role: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing10"];
                };
            };
        };
    };
    group_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing11"];
                };
            };
        };
    };
    group_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GroupCreateBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupView"];
                };
            };
        };
    };
    group_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the group. */
                group: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupView"];
                };
            };
        };
    };
    group_remove: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name or id of the group. */
                group: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    group_update: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name or id of the group. */
                group: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GroupUpdateBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupView"];
                };
            };
        };
    };
    group_member_add: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the group. */
                group: string;
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupView"];
                };
            };
        };
    };
    group_member_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the group. */
                group: string;
                /** @description Name or id of the user. */
                user: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GroupView"];
                };
            };
        };
    };
    access_check: {
        parameters: {
            query: {
                /** @description Such as `task.submit`. */
                permission: components["schemas"]["Permission"];
                /** @description Name or id of the project; absent for the whole installation. */
                project?: string;
                /** @description Name or id of a user, or `token:` and the id of a token; the caller when absent. */
                as?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessCheckView"];
                };
            };
        };
    };
    access_explain: {
        parameters: {
            query: {
                /** @description Such as `task.submit`. */
                permission: components["schemas"]["Permission"];
                /** @description Name or id of the project; absent for the whole installation. */
                project?: string;
                /** @description Name or id of a user, or `token:` and the id of a token; the caller when absent. */
                as?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessExplanation"];
                };
            };
        };
    };
    approval_list: {
        parameters: {
            query?: {
                /** @description Only those that the caller made. */
                mine?: boolean;
                /** @description Only those that the caller can decide on now. */
                toDecide?: boolean;
                /** @description Only those in this state. */
                state?: components["schemas"]["ApprovalState"];
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing12"];
                };
            };
        };
    };
    approval_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the request. */
                approval: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalView"];
                };
            };
        };
    };
    approval_approve: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the request. */
                approval: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApprovalApproveBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalView"];
                };
            };
        };
    };
    approval_deny: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the request. */
                approval: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApprovalDenyBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalView"];
                };
            };
        };
    };
    approval_withdraw: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the request. */
                approval: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalView"];
                };
            };
        };
    };
    approval_policy_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing13"];
                };
            };
        };
    };
    approval_policy_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the policy. */
                policy: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalPolicyView"];
                };
            };
        };
    };
    approval_policy_set: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as you know it; absent to make a new one. */
                "If-Match"?: string;
            };
            path: {
                /** @description Name of the policy. */
                policy: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApprovalRule"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalPolicyView"];
                };
            };
        };
    };
    approval_policy_remove: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name of the policy. */
                policy: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    project_approval_policy_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing13"];
                };
            };
        };
    };
    project_approval_policy_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the policy. */
                policy: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalPolicyView"];
                };
            };
        };
    };
    project_approval_policy_set: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as you know it; absent to make a new one. */
                "If-Match"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the policy. */
                policy: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ApprovalRule"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApprovalPolicyView"];
                };
            };
        };
    };
    project_approval_policy_remove: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the policy. */
                policy: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    token_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing14"];
                };
            };
        };
    };
    token_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TokenCreateBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCreatedView"];
                };
            };
        };
    };
    token_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenView"];
                };
            };
        };
    };
    token_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    project_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing15"];
                };
            };
        };
    };
    project_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectCreateBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectView"];
                };
            };
        };
    };
    project_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectView"];
                };
            };
        };
    };
    project_remove: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    project_update: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ProjectUpdateBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProjectView"];
                };
            };
        };
    };
    node_list: {
        parameters: {
            query?: {
                /** @description Only nodes in this state. */
                state?: components["schemas"]["NodeState"];
                /** @description Only nodes that carry these labels, as `key=value,key=value`. */
                selector?: string;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before; with `watch`, the `watchCursor` of a list or of the last message seen. */
                cursor?: string;
                /** @description Stream changes instead of listing. */
                watch?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing16"];
                    "text/event-stream": string;
                };
            };
        };
    };
    node_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeView"];
                };
            };
        };
    };
    node_remove: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
                };
            };
        };
    };
    node_update: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeUpdateBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeView"];
                };
            };
        };
    };
    node_cordon: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeCordonBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeView"];
                };
            };
        };
    };
    node_uncordon: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeView"];
                };
            };
        };
    };
    node_reload: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeReloadView"];
                };
            };
        };
    };
    node_drain: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeDrainBody"];
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
                };
            };
        };
    };
    node_workload_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing17"];
                };
            };
        };
    };
    node_held_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing18"];
                };
            };
        };
    };
    join_token_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing19"];
                };
            };
        };
    };
    join_token_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JoinTokenCreateBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinTokenCreatedView"];
                };
            };
        };
    };
    join_token_revoke: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the join token. */
                token: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    join: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["JoinBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JoinView"];
                };
            };
        };
    };
    node_health: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostHealth"];
                };
            };
        };
    };
    node_packages: {
        parameters: {
            query?: {
                /** @description Which packages; `installed` when absent. */
                which?: components["schemas"]["PackageWhich"];
                /** @description Part of the name; of the description too where packages are searched. */
                filter?: string;
                /** @description At most this many (1 to 10000, default 10000). */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostPackages"];
                };
            };
        };
    };
    node_services: {
        parameters: {
            query?: {
                /** @description Only this service, with what the service manager says about it. */
                name?: string;
                /** @description Only those in this state, such as `running` or `failed`. */
                state?: string;
                /** @description Part of the name. */
                filter?: string;
                /** @description At most this many (1 to 10000, default 10000). */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostServices"];
                };
            };
        };
    };
    node_logs: {
        parameters: {
            query?: {
                /** @description Only what this service wrote; needs the journal of systemd. */
                service?: string;
                /** @description A file below `/var/log` instead of the journal. */
                file?: string;
                /** @description The kernel's messages. */
                kernel?: boolean;
                /** @description So many of the last lines (1 to 10000, default 100). */
                lines?: number;
                /** @description From this time on; of the journal only. */
                since?: string;
                /** @description Up to this time; of the journal only. */
                until?: string;
                /** @description This priority and worse, 0 (emergency) to 7 (debug); of the journal only. */
                priority?: number;
                /** @description A regular expression that lines have to match. */
                grep?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostLogs"];
                };
            };
        };
    };
    node_processes: {
        parameters: {
            query?: {
                /** @description What comes first; `cpu` when absent. */
                order?: components["schemas"]["ProcessOrder"];
                /** @description Part of the name or of the command line. */
                filter?: string;
                /** @description Only those of this user. */
                user?: string;
                /** @description At most this many (1 to 10000, default 10000). */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostProcesses"];
                };
            };
        };
    };
    node_disks: {
        parameters: {
            query?: {
                /** @description A directory whose largest files and directories are wanted. */
                largest?: string;
                /** @description At most this many of the largest (1 to 1000, default 20). */
                limit?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostDisks"];
                };
            };
        };
    };
    node_users: {
        parameters: {
            query?: {
                /** @description The machine's own users too, such as `daemon`. */
                system?: boolean;
                /** @description Part of the name. */
                filter?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostUsers"];
                };
            };
        };
    };
    node_deed_check: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeDeedBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HostOutcome"];
                };
            };
        };
    };
    node_deed: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeDeedBody"];
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
                };
            };
        };
    };
    node_backup_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeBackupCreateBody"];
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeBackupView"];
                };
            };
        };
    };
    node_backup_list: {
        parameters: {
            query?: {
                /** @description Only of this node: its name, or its id, also when it was removed. */
                node?: string;
                /** @description Only in this state. */
                state?: components["schemas"]["NodeBackupState"];
                /** @description Only with this name. */
                label?: string;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing20"];
                };
            };
        };
    };
    node_backup_get: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Id of the backup, or its name: then the newest of this name is meant. */
                backup: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NodeBackupView"];
                };
            };
        };
    };
    node_backup_remove: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Id of the backup, or its name: then the newest of this name is meant. */
                backup: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    node_backup_files: {
        parameters: {
            query?: {
                /** @description Only this path and what is below it. */
                path?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Id of the backup, or its name: then the newest of this name is meant. */
                backup: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing21"];
                };
            };
        };
    };
    node_backup_verify: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Id of the backup, or its name: then the newest of this name is meant. */
                backup: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
                };
            };
        };
    };
    node_backup_restore: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Id of the backup, or its name: then the newest of this name is meant. */
                backup: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NodeBackupRestoreBody"];
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
                };
            };
        };
    };
    image_list: {
        parameters: {
            query?: {
                /** @description Only versions of this image. */
                name?: string;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing22"];
                };
            };
        };
    };
    image_push: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImagePushBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageView"];
                };
            };
        };
    };
    image_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description NAME, NAME:VERSION or NAME@DIGEST. */
                image: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImageView"];
                };
            };
        };
    };
    image_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description NAME, NAME:VERSION or NAME@DIGEST. */
                image: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    image_content: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description NAME, NAME:VERSION or NAME@DIGEST. */
                image: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
    image_take: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description NAME, NAME:VERSION or NAME@DIGEST. */
                image: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImageTakeBody"];
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
                };
            };
        };
    };
    image_sync: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description NAME, NAME:VERSION or NAME@DIGEST. */
                image: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImageSyncBody"];
            };
        };
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
                };
            };
        };
    };
    image_nodes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description NAME, NAME:VERSION or NAME@DIGEST. */
                image: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing23"];
                };
            };
        };
    };
    node_image_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing24"];
                };
            };
        };
    };
    node_image_remove: {
        parameters: {
            query: {
                /** @description Name or id of the image, as the node's engine knows it. */
                image: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    node_container_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing25"];
                };
            };
        };
    };
    node_container_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
                /** @description Name or id of the container. */
                container: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    node_container_files: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
                /** @description Name or id of the container. */
                container: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
    task_list: {
        parameters: {
            query?: {
                /** @description Only tasks in this state. */
                state?: components["schemas"]["TaskStateKind"];
                /** @description Only tasks of this array (name or id). */
                array?: string;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before; with `watch`, the `watchCursor` of a list or of the last message seen. */
                cursor?: string;
                /** @description Stream changes instead of listing. */
                watch?: boolean;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing26"];
                    "text/event-stream": string;
                };
            };
        };
    };
    task_submit: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskSubmitBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
        };
    };
    task_submit_batch: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskBatchBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskBatchView"];
                };
            };
        };
    };
    task_get: {
        parameters: {
            query?: {
                /** @description Wait at most this long (up to 60s) for the task to end. */
                wait?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the task. */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
        };
    };
    task_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the task. */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    task_kill: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the task. */
                task: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskKillBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
        };
    };
    task_pause: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the task. */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
        };
    };
    task_resume: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the task. */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
        };
    };
    task_retry: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the task. */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TaskView"];
                };
            };
        };
    };
    array_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing27"];
                };
            };
        };
    };
    array_submit: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ArraySubmitBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArrayView"];
                };
            };
        };
    };
    array_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the array. */
                array: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArrayView"];
                };
            };
        };
    };
    array_kill: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the array. */
                array: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TaskKillBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ArrayView"];
                };
            };
        };
    };
    queue_show: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["QueueView"];
                };
            };
        };
    };
    account_report: {
        parameters: {
            query?: {
                /** @description Only this project (name or id). */
                project?: string;
                /** @description First day, as 2026-11-01; thirty days ago when absent. */
                from?: string;
                /** @description Last day; today when absent. */
                to?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing28"];
                };
            };
        };
    };
    task_logs: {
        parameters: {
            query?: {
                /** @description Go on until the task ends. */
                follow?: boolean;
                /** @description Only this stream. */
                stream?: components["schemas"]["OutputStream"];
                /** @description Begin this many lines before the end. */
                tail?: number;
                /** @description Begin after the line that carried this cursor. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the task. */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    task_explain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the task. */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Explanation"];
                };
            };
        };
    };
    run_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the task. */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing29"];
                };
            };
        };
    };
    workload_list: {
        parameters: {
            query?: {
                /** @description Only workloads of this mode. */
                mode?: components["schemas"]["ModeKind"];
                /** @description Only workloads that carry this tag. */
                tag?: string;
                /** @description Only workloads that stand so; pages may be shorter than asked for, and even empty before the last. */
                phase?: components["schemas"]["WorkloadPhase"];
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before; with `watch`, the `watchCursor` of a list or of the last message seen. */
                cursor?: string;
                /** @description Stream changes instead of listing. */
                watch?: boolean;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing30"];
                    "text/event-stream": string;
                };
            };
        };
    };
    workload_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkloadView"];
                };
            };
        };
    };
    workload_apply: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as you know it; absent to make a new one. */
                "If-Match"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkloadSpec"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkloadView"];
                };
            };
        };
    };
    workload_remove: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkloadView"];
                };
            };
        };
    };
    workload_start: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkloadView"];
                };
            };
        };
    };
    workload_stop: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkloadView"];
                };
            };
        };
    };
    workload_restart: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkloadView"];
                };
            };
        };
    };
    workload_run_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing31"];
                };
            };
        };
    };
    workload_placement_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing32"];
                };
            };
        };
    };
    workload_logs: {
        parameters: {
            query?: {
                /** @description Only from this node (name or id). */
                node?: string;
                /** @description Only of this run. */
                run?: components["schemas"]["RunId"];
                /** @description Go on with what comes, from one run into the next. */
                follow?: boolean;
                /** @description The last so many lines of each node. */
                tail?: number;
                /** @description Lines that began at this time or later. */
                since?: string;
                /** @description Lines that began before this time, or at it. */
                until?: string;
                /** @description Lines in which this regular expression is found. */
                grep?: string;
                /** @description Only this stream. */
                stream?: components["schemas"]["OutputStream"];
                /** @description Begin after the lines that carried these cursors: the newest of each node, joined by commas. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    workload_exec: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkloadExecBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    workload_explain: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkloadExplanation"];
                };
            };
        };
    };
    workload_next: {
        parameters: {
            query?: {
                /** @description How many times to show (1 to 1000, default 10). */
                count?: number;
                /** @description Only on this node (name or id); over all its nodes when absent. */
                node?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing33"];
                };
            };
        };
    };
    workload_usage: {
        parameters: {
            query?: {
                /** @description Name or id of the node; needed when the workload is on several. */
                node?: string;
                /** @description From this time on; everything there is when absent. */
                since?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the workload; to apply one, its name. */
                workload: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing34"];
                };
            };
        };
    };
    node_usage: {
        parameters: {
            query?: {
                /** @description From this time on; everything there is when absent. */
                since?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the node. */
                node: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing34"];
                };
            };
        };
    };
    workflow_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing35"];
                };
            };
        };
    };
    workflow_push: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowPushBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowPushed"];
                };
            };
        };
    };
    workflow_get: {
        parameters: {
            query?: {
                /** @description Number of the version; the newest when absent. */
                version?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowView"];
                };
            };
        };
    };
    workflow_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    workflow_source: {
        parameters: {
            query?: {
                /** @description Number of the version; the newest when absent. */
                version?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkflowBundle"];
                };
            };
        };
    };
    workflow_version_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing35"];
                };
            };
        };
    };
    workflow_run: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the workflow. */
                workflow: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WorkflowRunBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionView"];
                };
            };
        };
    };
    execution_list: {
        parameters: {
            query?: {
                /** @description Only of this workflow. */
                workflow?: string;
                /** @description Only those that are not over, or only those that are. */
                open?: boolean;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing36"];
                };
            };
        };
    };
    execution_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                execution: components["schemas"]["ExecutionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionView"];
                };
            };
        };
    };
    execution_output: {
        parameters: {
            query: {
                /** @description Name of the step. */
                step: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                execution: components["schemas"]["ExecutionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing37"];
                };
            };
        };
    };
    execution_cancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                execution: components["schemas"]["ExecutionId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionView"];
                };
            };
        };
    };
    execution_retry: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                execution: components["schemas"]["ExecutionId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecutionRetryBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecutionView"];
                };
            };
        };
    };
    module_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing38"];
                };
            };
        };
    };
    module_push: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ModulePushBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModulePushed"];
                };
            };
        };
    };
    module_get: {
        parameters: {
            query?: {
                /** @description Number of the version; the newest when absent. */
                version?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the module. */
                module: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModuleView"];
                };
            };
        };
    };
    module_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the module. */
                module: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    module_source: {
        parameters: {
            query?: {
                /** @description Number of the version; the newest when absent. */
                version?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the module. */
                module: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ModuleText"];
                };
            };
        };
    };
    module_version_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the module. */
                module: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing38"];
                };
            };
        };
    };
    schedule_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing39"];
                };
            };
        };
    };
    schedule_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the schedule; to make one, its name. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleView"];
                };
            };
        };
    };
    schedule_apply: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as you know it; absent to make a new one. */
                "If-Match"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the schedule; to make one, its name. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleSpec"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleView"];
                };
            };
        };
    };
    schedule_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the schedule; to make one, its name. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    schedule_pause: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the schedule; to make one, its name. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SchedulePauseBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleView"];
                };
            };
        };
    };
    schedule_resume: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the schedule; to make one, its name. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleView"];
                };
            };
        };
    };
    schedule_run: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the schedule; to make one, its name. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ScheduleFireView"];
                };
            };
        };
    };
    schedule_next: {
        parameters: {
            query?: {
                /** @description How many times to show (1 to 1000, default 10). */
                count?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the schedule; to make one, its name. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing40"];
                };
            };
        };
    };
    schedule_history: {
        parameters: {
            query?: {
                /** @description Only those in this state. */
                state?: components["schemas"]["FireState"];
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the schedule; to make one, its name. */
                schedule: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing41"];
                };
            };
        };
    };
    schedule_preview: {
        parameters: {
            query?: {
                /** @description How many times to show (1 to 1000, default 10). */
                count?: number;
            };
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ScheduleSpec"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing40"];
                };
            };
        };
    };
    watcher_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing42"];
                };
            };
        };
    };
    watcher_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the watcher; to make one, its name. */
                watcher: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WatcherView"];
                };
            };
        };
    };
    watcher_apply: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as you know it; absent to make a new one. */
                "If-Match"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the watcher; to make one, its name. */
                watcher: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WatcherSpec"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WatcherView"];
                };
            };
        };
    };
    watcher_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the watcher; to make one, its name. */
                watcher: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    watcher_enable: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the watcher; to make one, its name. */
                watcher: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WatcherView"];
                };
            };
        };
    };
    watcher_disable: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the watcher; to make one, its name. */
                watcher: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WatcherView"];
                };
            };
        };
    };
    blob_list: {
        parameters: {
            query?: {
                /** @description Only blobs of this kind. */
                kind?: components["schemas"]["BlobKind"];
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing43"];
                };
            };
        };
    };
    blob_commit: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BlobCommitBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlobView"];
                };
            };
        };
    };
    chunks_missing: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChunksBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChunksView"];
                };
            };
        };
    };
    chunk_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Digest of the chunk. */
                chunk: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    blob_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Digest of the blob. */
                blob: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BlobView"];
                };
            };
        };
    };
    blob_remove: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Digest of the blob. */
                blob: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    blob_content: {
        parameters: {
            query?: {
                /** @description Leave out this many bytes at the beginning. */
                from?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Digest of the blob. */
                blob: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
    shared_chunks_missing: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ChunksBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChunksView"];
                };
            };
        };
    };
    shared_chunk_put: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Digest of the chunk. */
                chunk: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    task_output_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the task. */
                task: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing44"];
                };
            };
        };
    };
    secret_list: {
        parameters: {
            query?: {
                /** @description Only secrets of this environment. */
                environment?: string;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing45"];
                };
            };
        };
    };
    secret_get: {
        parameters: {
            query?: {
                /** @description The environment of the secret; `default` when absent. */
                environment?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the secret. */
                secret: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretView"];
                };
            };
        };
    };
    secret_set: {
        parameters: {
            query: {
                /** @description The environment of the secret, such as `default`. */
                environment: string;
                /** @description Only if the secret is there already. */
                mustExist?: boolean;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the secret. */
                secret: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretView"];
                };
            };
        };
    };
    secret_remove: {
        parameters: {
            query?: {
                /** @description The environment of the secret; `default` when absent. */
                environment?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the secret. */
                secret: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    secret_link: {
        parameters: {
            query?: {
                /** @description The environment of the secret; `default` when absent. */
                environment?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the secret. */
                secret: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecretLink"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretView"];
                };
            };
        };
    };
    vault_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing46"];
                };
            };
        };
    };
    secret_generate: {
        parameters: {
            query?: {
                /** @description The environment of the secret; `default` when absent. */
                environment?: string;
            };
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the secret. */
                secret: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SecretGenerateBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretView"];
                };
            };
        };
    };
    secret_read: {
        parameters: {
            query?: {
                /** @description The environment of the secret; `default` when absent. */
                environment?: string;
                /** @description Number of the version; the current one when absent. */
                version?: number;
            };
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the secret. */
                secret: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretValueView"];
                };
            };
        };
    };
    secret_version_list: {
        parameters: {
            query?: {
                /** @description The environment of the secret; `default` when absent. */
                environment?: string;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the secret. */
                secret: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing47"];
                };
            };
        };
    };
    secret_version_destroy: {
        parameters: {
            query?: {
                /** @description The environment of the secret; `default` when absent. */
                environment?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the secret. */
                secret: string;
                /** @description Number of the version. */
                version: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretView"];
                };
            };
        };
    };
    secret_rewrap: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SecretRewrapView"];
                };
            };
        };
    };
    lock_list: {
        parameters: {
            query?: {
                /** @description Also those that nobody holds or waits for, as long as they are remembered. */
                all?: boolean;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing48"];
                };
            };
        };
    };
    lock_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the lock; a `/` in it is written `%2F`. */
                lock: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LockDetailView"];
                };
            };
        };
    };
    lock_acquire: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the lock; a `/` in it is written `%2F`. */
                lock: string;
                /** @description Id of the hold, chosen by who asks: a fresh UUID for every time that the lock is wanted. */
                hold: components["schemas"]["LockHoldId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LockAcquireBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LockAcquired"];
                };
            };
        };
    };
    lock_release: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the lock; a `/` in it is written `%2F`. */
                lock: string;
                /** @description Id of the hold, chosen by who asks: a fresh UUID for every time that the lock is wanted. */
                hold: components["schemas"]["LockHoldId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    lock_renew: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the lock; a `/` in it is written `%2F`. */
                lock: string;
                /** @description Id of the hold, chosen by who asks: a fresh UUID for every time that the lock is wanted. */
                hold: components["schemas"]["LockHoldId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LockRenewBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LockHoldView"];
                };
            };
        };
    };
    lock_force_release: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the lock; a `/` in it is written `%2F`. */
                lock: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LockForceBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LockDetailView"];
                };
            };
        };
    };
    hook_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing49"];
                };
            };
        };
    };
    hook_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookView"];
                };
            };
        };
    };
    hook_set: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as you know it; absent to make a new one. */
                "If-Match"?: string;
            };
            path: {
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventHookSpec"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookView"];
                };
            };
        };
    };
    hook_remove: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    hook_enable: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookView"];
                };
            };
        };
    };
    hook_disable: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookView"];
                };
            };
        };
    };
    hook_test: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HookTestBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookTestView"];
                };
            };
        };
    };
    hook_delivery_list: {
        parameters: {
            query?: {
                /** @description Only those in this state. */
                state?: components["schemas"]["DeliveryState"];
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing50"];
                };
            };
        };
    };
    hook_replay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeadLetterBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterReply"];
                };
            };
        };
    };
    hook_discard: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeadLetterBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterReply"];
                };
            };
        };
    };
    project_hook_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing49"];
                };
            };
        };
    };
    project_hook_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookView"];
                };
            };
        };
    };
    project_hook_set: {
        parameters: {
            query?: never;
            header?: {
                /** @description The ETag of the object as you know it; absent to make a new one. */
                "If-Match"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventHookSpec"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookView"];
                };
            };
        };
    };
    project_hook_remove: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    project_hook_enable: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookView"];
                };
            };
        };
    };
    project_hook_disable: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookView"];
                };
            };
        };
    };
    project_hook_test: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["HookTestBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HookTestView"];
                };
            };
        };
    };
    project_hook_delivery_list: {
        parameters: {
            query?: {
                /** @description Only those in this state. */
                state?: components["schemas"]["DeliveryState"];
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing50"];
                };
            };
        };
    };
    project_hook_replay: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeadLetterBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterReply"];
                };
            };
        };
    };
    project_hook_discard: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the hook. */
                hook: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeadLetterBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeadLetterReply"];
                };
            };
        };
    };
    state_namespace_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing51"];
                };
            };
        };
    };
    state_list: {
        parameters: {
            query?: {
                /** @description Only keys that begin with this. */
                prefix?: string;
                /** @description With their values; `limit` is at most 100 then. */
                values?: boolean;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before; with `watch`, the revision after which to begin. */
                cursor?: string;
                /** @description Stream changes instead of listing. */
                watch?: boolean;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                namespace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing52"];
                    "text/event-stream": string;
                };
            };
        };
    };
    state_namespace_clear: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                namespace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StateClearedView"];
                };
            };
        };
    };
    state_get: {
        parameters: {
            query: {
                key: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                namespace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StateEntryView"];
                };
            };
        };
    };
    state_delete: {
        parameters: {
            query: {
                key: string;
                /** @description Only if its revision is this. */
                ifRevision?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                namespace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StateDeletedView"];
                };
            };
        };
    };
    state_value_get: {
        parameters: {
            query: {
                key: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                namespace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
        };
    };
    state_put: {
        parameters: {
            query: {
                key: string;
                /** @description After this long it is gone; when absent it stays. */
                ttl?: string;
                /** @description Only if its revision is this. */
                ifRevision?: number;
                /** @description Only if there is none yet. */
                ifAbsent?: boolean;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                namespace: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StateEntryView"];
                };
            };
        };
    };
    state_history: {
        parameters: {
            query: {
                key: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                namespace: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing53"];
                };
            };
        };
    };
    state_commit: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StateTxnBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StateAnswerView"];
                };
            };
        };
    };
    state_stream: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/x-ndjson": string;
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/x-ndjson": string;
                };
            };
        };
    };
    operation_list: {
        parameters: {
            query?: {
                /** @description Only operations in this state. */
                state?: components["schemas"]["OperationState"];
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing54"];
                };
            };
        };
    };
    operation_get: {
        parameters: {
            query?: {
                /** @description Wait at most this long (up to 60s) for the operation to end. */
                wait?: string;
            };
            header?: never;
            path: {
                /** @description Id of the operation. */
                operation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
                };
            };
        };
    };
    operation_cancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Id of the operation. */
                operation: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperationView"];
                };
            };
        };
    };
    event_list: {
        parameters: {
            query?: {
                /** @description Only events of this project (name or id). */
                project?: string;
                /** @description Only events of this kind, such as `task.failed` or `custom.deploy`, or of all of a noun: `lock.*`. */
                kind?: string;
                /** @description Only events about this kind of object... */
                object?: components["schemas"]["ObjectKind"];
                /** @description ...with this id. */
                id?: string;
                /** @description Only events about objects with this name. */
                name?: string;
                /**
                 * @description Only what was caused by this: the id of a request, `execution/ID`, `task/ID`, `workload/ID`, `fire/ID/TIME` or
                 *     `hook/ID/NUMBER`; by all that begin so, where it ends with a `/`.
                 */
                cause?: string;
                /** @description Not before this time; not with `watch`. */
                since?: string;
                /** @description Before this time; not with `watch`. */
                until?: string;
                /**
                 * @description Only events of which this holds, such as `payload.exitCode > 1 and object.name startsWith "web"`. A page
                 *     may be empty although more follow: go on with `nextCursor`.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before; with `watch`, the `watchCursor` of a list or of the last message seen. */
                cursor?: string;
                /** @description Stream events instead of listing. */
                watch?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing55"];
                    "text/event-stream": string;
                };
            };
        };
    };
    event_export: {
        parameters: {
            query?: {
                /** @description Only events of this project (name or id). */
                project?: string;
                /** @description Only events of this kind, such as `task.failed` or `custom.deploy`, or of all of a noun: `lock.*`. */
                kind?: string;
                /** @description Only events about this kind of object... */
                object?: components["schemas"]["ObjectKind"];
                /** @description ...with this id. */
                id?: string;
                /** @description Only events about objects with this name. */
                name?: string;
                /** @description Only what was caused by this, as in a list. */
                cause?: string;
                /** @description Only events of which this holds, as in a list. */
                filter?: string;
                /** @description Not before this time; from the oldest that is kept when absent. Refused when some since then are gone. */
                since?: string;
                /** @description Before this time. */
                until?: string;
                /** @description Only events after this number. Refused when some after it are gone. */
                after?: number;
                /** @description At most this many items (1 to 1000, default 100). A page may be empty although more follow. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing55"];
                };
            };
        };
    };
    event_emit: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EventEmitBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventView"];
                };
            };
        };
    };
    audit_list: {
        parameters: {
            query?: {
                /** @description Only entries of this actor (name). */
                actor?: string;
                /** @description Only this action, such as `task.create`; `task.` or `task.*` for all that begin so. */
                action?: string;
                /** @description Only about this kind of object. */
                kind?: components["schemas"]["ObjectKind"];
                /** @description Only about the object with this id or name. */
                object?: string;
                /** @description Only of this project (name or id). */
                project?: string;
                /** @description Only of requests from this address. */
                source?: string;
                /** @description Not before this time. */
                since?: string;
                /** @description Before this time. */
                until?: string;
                /**
                 * @description Only with this text in names, action, request id, address or detail, whatever the case. A page
                 *     may be empty although more follow: go on with `nextCursor`.
                 */
                text?: string;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing56"];
                };
            };
        };
    };
    audit_export: {
        parameters: {
            query?: {
                /** @description From the first entry that is not before this time. */
                since?: string;
                /** @description Only entries after this number. */
                after?: number;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing56"];
                };
            };
        };
    };
    audit_verify: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditVerdict"];
                };
            };
        };
    };
    audit_anchor_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing57"];
                };
            };
        };
    };
    audit_anchor_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AuditAnchorView"];
                };
            };
        };
    };
    audit_sink_list: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing58"];
                };
            };
        };
    };
    timeline_find: {
        parameters: {
            query: {
                /** @description Name or id of the object, of whatever kind. */
                object: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing59"];
                };
            };
        };
    };
    project_timeline: {
        parameters: {
            query?: {
                /** @description Not before this time. */
                since?: string;
                /** @description Before this time. */
                until?: string;
                /** @description Only from these sources, with commas between them: event, node, run, fire, delivery, audit. */
                sources?: string;
                /** @description At most this many items (1 to 1000, default 100). A page may have fewer, or none, although more follow. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                kind: components["schemas"]["ObjectKind"];
                /** @description Name or id of the object; a `/` in it is written `%2F`. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TimelineView"];
                };
            };
        };
    };
    timeline_get: {
        parameters: {
            query?: {
                /** @description Not before this time. */
                since?: string;
                /** @description Before this time. */
                until?: string;
                /** @description Only from these sources, with commas between them: event, node, run, fire, delivery, audit. */
                sources?: string;
                /** @description At most this many items (1 to 1000, default 100). A page may have fewer, or none, although more follow. */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                kind: components["schemas"]["ObjectKind"];
                /** @description Name or id of the object; a `/` in it is written `%2F`. */
                object: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TimelineView"];
                };
            };
        };
    };
    stack_list: {
        parameters: {
            query?: {
                /** @description Only the one of this name. */
                name?: string;
                /** @description Only those with this tag. */
                tag?: string;
                /** @description Only those to which this is done, or was done last. */
                action?: components["schemas"]["StackAction"];
                /** @description Only those that stand so. */
                status?: components["schemas"]["StackStatus"];
                /** @description Also those that are resources of others. */
                nested?: boolean;
                /** @description Also those that are gone, as long as they are remembered. */
                deleted?: boolean;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing60"];
                };
            };
        };
    };
    stack_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackCreateBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_update: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackUpdateBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_remove: {
        parameters: {
            query?: {
                /** @description Also when other stacks use its outputs. */
                force?: boolean;
                /** @description Why; it stands in events and in the audit trail. */
                reason?: string;
            };
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_patch: {
        parameters: {
            query?: never;
            header: {
                /** @description The ETag of the object as you know it. */
                "If-Match": string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackPatchBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_suspend: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_resume: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_check: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_cancel: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackCancelBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_output_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing61"];
                };
            };
        };
    };
    stack_event_list: {
        parameters: {
            query?: {
                /** @description Also of stacks that are resources of this one, so many below each other. */
                depth?: number;
                /** @description Only of the resource with this name. */
                resource?: string;
                /** @description Only those that stand so. */
                status?: components["schemas"]["StackStatus"];
                /** @description The newest first. */
                newest?: boolean;
                /** @description Id of an event: only what happened after it, or, with `newest`, before it. Instead of `cursor`. */
                after?: components["schemas"]["StackEventId"];
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /**
                 * @description `nextCursor` of the page before; with `watch`, the id of an event that is known, such as the cursor of the last message
                 *     seen: what happened after it is told, and without one everything that is kept.
                 */
                cursor?: string;
                /** @description Keep the connection open and stream what happens, the oldest first. */
                watch?: boolean;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing62"];
                    "text/event-stream": string;
                };
            };
        };
    };
    stack_definition: {
        parameters: {
            query?: {
                /** @description Number of the revision; what the stack is or goes towards when absent. */
                revision?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackDefinitionView"];
                };
            };
        };
    };
    stack_resource_list: {
        parameters: {
            query?: {
                /** @description Also of stacks that are resources of this one, so many below each other. */
                depth?: number;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing63"];
                };
            };
        };
    };
    stack_resource_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
                /** @description Name of the resource, or what it is in the world. */
                resource: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackResourceView"];
                };
            };
        };
    };
    stack_graph: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackGraphView"];
                };
            };
        };
    };
    stack_signal: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
                /** @description Name of the resource, or what it is in the world. */
                resource: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackSignalBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackSignalView"];
                };
            };
        };
    };
    stack_mark: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
                /** @description Name of the resource, or what it is in the world. */
                resource: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackMarkBody"];
            };
        };
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    stack_hook_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing64"];
                };
            };
        };
    };
    stack_hook_clear: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
                /** @description Name of the resource, or what it is in the world. */
                resource: string;
                hook: components["schemas"]["StackHook"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    stack_plan_list: {
        parameters: {
            query?: {
                /** @description Only of this stack, by name or by id. */
                stack?: string;
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing65"];
                };
            };
        };
    };
    stack_plan_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackPlanBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackPlanView"];
                };
            };
        };
    };
    stack_plan_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                plan: components["schemas"]["StackPlanId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackPlanView"];
                };
            };
        };
    };
    stack_plan_remove: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                plan: components["schemas"]["StackPlanId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    stack_plan_apply: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                plan: components["schemas"]["StackPlanId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_drift_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackDriftView"];
                };
            };
        };
    };
    stack_drift_detect: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackDriftView"];
                };
            };
        };
    };
    stack_plugin_list: {
        parameters: {
            query?: {
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing66"];
                };
            };
        };
    };
    stack_plugin_push: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackPluginPushBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackPluginView"];
                };
            };
        };
    };
    stack_plugin_get: {
        parameters: {
            query?: {
                /** @description Number of the version; the newest when absent. */
                version?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the plugin. */
                plugin: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackPluginView"];
                };
            };
        };
    };
    stack_plugin_remove: {
        parameters: {
            query?: {
                /** @description Number of the version; the newest when absent. */
                version?: number;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the plugin. */
                plugin: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    stack_plugin_version_list: {
        parameters: {
            query?: {
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the plugin. */
                plugin: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing66"];
                };
            };
        };
    };
    stack_revision_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing67"];
                };
            };
        };
    };
    stack_revision_get: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
                /** @description Number of the revision. */
                revision: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackRevisionView"];
                };
            };
        };
    };
    stack_snapshot_list: {
        parameters: {
            query?: {
                /**
                 * @description Only those of which this expression holds, such as `name startsWith "web"`; see the page on filters. A page may
                 *     be empty although more follow.
                 */
                filter?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing68"];
                };
            };
        };
    };
    stack_snapshot_create: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackSnapshotBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackSnapshotView"];
                };
            };
        };
    };
    stack_snapshot_get: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
                snapshot: components["schemas"]["StackSnapshotId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackSnapshotView"];
                };
            };
        };
    };
    stack_snapshot_remove: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
                snapshot: components["schemas"]["StackSnapshotId"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    stack_compare: {
        parameters: {
            query: {
                /** @description A revision, such as `v3`, the id of a snapshot, or `now`. */
                from: string;
                /** @description The same; `now` when absent. */
                to?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackComparisonView"];
                };
            };
        };
    };
    stack_restore: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackRestoreBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_export: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackDocumentView"];
                };
            };
        };
    };
    stack_abandon: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackDocumentView"];
                };
            };
        };
    };
    stack_adopt: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackAdoptBody"];
            };
        };
        responses: {
            /** @description Done. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackView"];
                };
            };
        };
    };
    stack_lock_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackLockView"];
                };
            };
        };
    };
    stack_lock_release: {
        parameters: {
            query?: {
                /** @description Id of the hold; the caller's own when absent. */
                hold?: components["schemas"]["LockHoldId"];
            };
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    stack_lock_acquire: {
        parameters: {
            query?: never;
            header?: {
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
                /** @description Id of the hold, chosen by who asks: a fresh UUID for every time that the lock is wanted. */
                hold: components["schemas"]["LockHoldId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LockAcquireBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LockAcquired"];
                };
            };
        };
    };
    stack_lock_renew: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
                /** @description Id of the approval, where a policy asks for one. */
                "Hostler-Approval"?: string;
                /** @description The reason for doing it without the approval that a policy asks for. */
                "Hostler-Break-Glass"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
                /** @description Id of the hold, chosen by who asks: a fresh UUID for every time that the lock is wanted. */
                hold: components["schemas"]["LockHoldId"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["LockRenewBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LockHoldView"];
                };
            };
        };
    };
    stack_lock_force_release: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackLockForceBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LockDetailView"];
                };
            };
        };
    };
    stack_template_check: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackTemplateCheckBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackTemplateView"];
                };
            };
        };
    };
    stack_checklist_all: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing69"];
                };
            };
        };
    };
    stack_form_check: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackFormCheckBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackChecklistView"];
                };
            };
        };
    };
    stack_checklist: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackChecklistView"];
                };
            };
        };
    };
    stack_dependencies: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name or id of the stack. */
                stack: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackDependenciesView"];
                };
            };
        };
    };
    stack_dependency_graph: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackDependencyGraphView"];
                };
            };
        };
    };
    stack_dependency_check: {
        parameters: {
            query?: {
                /** @description Only of this stack, by name or by id. */
                stack?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing70"];
                };
            };
        };
    };
    stack_dependency_order: {
        parameters: {
            query?: never;
            header?: {
                /** @description Repeats with the same key and body have one effect. */
                "Idempotency-Key"?: string;
            };
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StackDependencyOrderBody"];
            };
        };
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackOrderView"];
                };
            };
        };
    };
    stack_type_list: {
        parameters: {
            query?: {
                /** @description Only those whose name has this in it, in whatever case. */
                name?: string;
                /** @description At most this many items (1 to 1000, default 100). */
                limit?: number;
                /** @description `nextCursor` of the page before. */
                cursor?: string;
            };
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing71"];
                };
            };
        };
    };
    stack_type_get: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
                /** @description Name of the type, such as `OS::Heat::Value`. */
                type: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StackTypeDetailView"];
                };
            };
        };
    };
    stack_edition_list: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Name or id of the project. */
                project: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Listing72"];
                };
            };
        };
    };
}
