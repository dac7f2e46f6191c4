/*
 * Reports in the forms in which the large mail systems write them, about a message that was sent from here. Each is
 * text with LF line ends, one character for each byte.
 */

export interface ReportFacts {
  /** Message-ID of the message that it is about, without brackets. */
  readonly messageId: string;
  readonly recipient: string;
  /** The inbox that sent it. */
  readonly sender: string;
}

/** What has to be read in one. */
export interface RecordedReport {
  readonly name: string;
  readonly write: (facts: ReportFacts) => string;
  readonly kind: 'dsn' | 'abuse';
  readonly action: string;
  readonly status: string | null;
  /** Part of what the server said. */
  readonly said: RegExp | null;
}

const original = ({ messageId, recipient, sender }: ReportFacts, body = 'Hello\n') =>
  `From: Agent <${sender}>
To: ${recipient}
Subject: Notes of the meeting
Date: Thu, 15 Jan 2026 12:00:00 +0000
Message-ID: <${messageId}>
MIME-Version: 1.0
Content-Type: text/plain; charset=utf-8

${body}`;

const originalHeader = (facts: ReportFacts) => original(facts, '');

const postfix = (facts: ReportFacts, text: string, fields: string) => `Return-Path: <>
Received: by mx.remote.example (Postfix)
	id 4F2A1B3C4D; Thu, 15 Jan 2026 12:00:03 +0000 (UTC)
Date: Thu, 15 Jan 2026 12:00:03 +0000 (UTC)
From: MAILER-DAEMON@mx.remote.example (Mail Delivery System)
Subject: Undelivered Mail Returned to Sender
To: ${facts.sender}
Auto-Submitted: auto-replied
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="7E8F1A2B3C.1768478403/mx.remote.example"
Content-Transfer-Encoding: 8bit
Message-Id: <20260115120003.4F2A1B3C4D@mx.remote.example>

This is a MIME-encapsulated message.

--7E8F1A2B3C.1768478403/mx.remote.example
Content-Description: Notification
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: 8bit

This is the mail system at host mx.remote.example.

${text}

                   The mail system

--7E8F1A2B3C.1768478403/mx.remote.example
Content-Description: Delivery report
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.remote.example
X-Postfix-Queue-ID: 7E8F1A2B3C
X-Postfix-Sender: rfc822; ${facts.sender}
Arrival-Date: Thu, 15 Jan 2026 12:00:01 +0000 (UTC)

${fields}

--7E8F1A2B3C.1768478403/mx.remote.example
Content-Description: Undelivered Message
Content-Type: message/rfc822
Content-Transfer-Encoding: 8bit

Return-Path: <${facts.sender}>
Received: from mail.example.org (mail.example.org [192.0.2.9])
	by mx.remote.example (Postfix) with ESMTPS id 7E8F1A2B3C
	for <${facts.recipient}>; Thu, 15 Jan 2026 12:00:01 +0000 (UTC)
${original(facts)}
--7E8F1A2B3C.1768478403/mx.remote.example--
`;

const exchange = (facts: ReportFacts) => `Received: from AB0PR01MB1234.prod.example (2001:db8::1) by
 CD0PR01MB5678.prod.example (2001:db8::2) with Microsoft SMTP Server
 (version=TLS1_2, cipher=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384) id 15.20.1.1;
 Thu, 15 Jan 2026 12:00:04 +0000
MIME-Version: 1.0
From: Microsoft Outlook
	<MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@remote.example>
To: <${facts.sender}>
Date: Thu, 15 Jan 2026 12:00:04 +0000
Content-Type: multipart/report; report-type=delivery-status;
	boundary="cdf82e78-582d-4a55-9037-dacf81ae37d3"
X-MS-Exchange-Message-Is-Ndr:
Content-Language: en-US
Message-ID: <6d1c8f2a-7f2e-4f52-93ec-7f0b4ad6a1c2@AB0PR01MB1234.prod.example>
In-Reply-To: <${facts.messageId}>
References: <${facts.messageId}>
Subject: Undeliverable: Notes of the meeting
Auto-Submitted: auto-replied

--cdf82e78-582d-4a55-9037-dacf81ae37d3
Content-Type: multipart/alternative; differences=Content-Type;
	boundary="dd52d83c-f7f4-4e8c-8d2b-6f6c0b4c2f11"

--dd52d83c-f7f4-4e8c-8d2b-6f6c0b4c2f11
Content-Type: text/plain; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

Your message to ${facts.recipient} couldn't be delivered.
The address wasn't found at remote.example.

Original message headers follow.

--dd52d83c-f7f4-4e8c-8d2b-6f6c0b4c2f11
Content-Type: text/html; charset="us-ascii"
Content-Transfer-Encoding: quoted-printable

<html><body><p>Your message to ${facts.recipient} couldn't be delivered.</p></body></html>

--dd52d83c-f7f4-4e8c-8d2b-6f6c0b4c2f11--

--cdf82e78-582d-4a55-9037-dacf81ae37d3
Content-Type: message/delivery-status

Reporting-MTA: dns;AB0PR01MB1234.prod.example
Received-From-MTA: dns;mail.example.org
Arrival-Date: Thu, 15 Jan 2026 12:00:03 +0000

Final-Recipient: rfc822;${facts.recipient}
Action: failed
Status: 5.1.10
Diagnostic-Code: smtp;550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup
X-Display-Name: Somebody


--cdf82e78-582d-4a55-9037-dacf81ae37d3
Content-Type: message/rfc822

Received: from mail.example.org (192.0.2.9) by AB0PR01MB1234.prod.example
 with Microsoft SMTP Server id 15.20.1.1 via Frontend Transport;
 Thu, 15 Jan 2026 12:00:02 +0000
${original(facts)}
--cdf82e78-582d-4a55-9037-dacf81ae37d3--
`;

const gmail = (
  facts: ReportFacts,
) => `DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=googlemail.example;
        s=20230601; h=content-type:subject:date; bh=AAAA; b=BBBB
X-Received: by 2002:a05:600c:1; Thu, 15 Jan 2026 04:00:05 -0800 (PST)
MIME-Version: 1.0
Return-Path: <>
From: Mail Delivery Subsystem <mailer-daemon@googlemail.example>
To: ${facts.sender}
Auto-Submitted: auto-replied
Subject: Delivery Status Notification (Failure)
References: <${facts.messageId}>
In-Reply-To: <${facts.messageId}>
X-Failed-Recipients: ${facts.recipient}
Message-ID: <6970a1b2.050a0220.1a2b3c.0001.GMR@mx.google.example>
Date: Thu, 15 Jan 2026 04:00:05 -0800 (PST)
Content-Type: multipart/report; boundary="000000000000a1b2c3d4e5f60718"; report-type=delivery-status

--000000000000a1b2c3d4e5f60718
Content-Type: multipart/related; boundary="000000000000a1b2c3d4e5f60719"

--000000000000a1b2c3d4e5f60719
Content-Type: multipart/alternative; boundary="000000000000a1b2c3d4e5f6071a"

--000000000000a1b2c3d4e5f6071a
Content-Type: text/plain; charset="UTF-8"


** Address not found **

Your message wasn't delivered to ${facts.recipient} because the address couldn't be found, or is unable to receive mail.

The response was:

550 5.1.1 The email account that you tried to reach does not exist.

--000000000000a1b2c3d4e5f6071a
Content-Type: text/html; charset="UTF-8"

<html><body><b>Address not found</b><img src="cid:icon.png"></body></html>

--000000000000a1b2c3d4e5f6071a--
--000000000000a1b2c3d4e5f60719
Content-Type: image/png; name="icon.png"
Content-Disposition: attachment; filename="icon.png"
Content-Transfer-Encoding: base64
Content-ID: <icon.png>

iVBORw0KGgo=
--000000000000a1b2c3d4e5f60719--
--000000000000a1b2c3d4e5f60718
Content-Type: message/delivery-status

Reporting-MTA: dns; googlemail.example
Arrival-Date: Thu, 15 Jan 2026 04:00:04 -0800 (PST)
X-Original-Message-ID: <${facts.messageId}>

Final-Recipient: rfc822; ${facts.recipient}
Action: failed
Status: 5.1.1
Diagnostic-Code: smtp; 550-5.1.1 The email account that you tried to reach does not exist. Please try
 550-5.1.1 double-checking the recipient's email address for typos or
 550-5.1.1 unnecessary spaces.
 550 5.1.1 NoSuchUser 5b1f17b1804b1-42f gsmtp
Last-Attempt-Date: Thu, 15 Jan 2026 04:00:05 -0800 (PST)

--000000000000a1b2c3d4e5f60718
Content-Type: message/rfc822

X-Received: by 2002:a05:600c:2; Thu, 15 Jan 2026 04:00:04 -0800 (PST)
${original(facts)}

--000000000000a1b2c3d4e5f60718--
`;

const exim = (facts: ReportFacts) => `Return-path: <>
Envelope-to: ${facts.sender}
Received: from Debian-exim by mx.remote.example with local (Exim 4.96)
	id 1tXYZa-0001Ab-0C
	for ${facts.sender}; Thu, 15 Jan 2026 12:00:04 +0000
X-Failed-Recipients: ${facts.recipient}
Auto-Submitted: auto-replied
From: Mail Delivery System <Mailer-Daemon@mx.remote.example>
To: ${facts.sender}
References: <${facts.messageId}>
Content-Type: multipart/report; report-type=delivery-status; boundary=1768478404-eximdsn-1804289383
MIME-Version: 1.0
Subject: Mail delivery failed: returning message to sender
Message-Id: <E1tXYZa-0001Ab-0C@mx.remote.example>
Date: Thu, 15 Jan 2026 12:00:04 +0000

--1768478404-eximdsn-1804289383
Content-type: text/plain; charset=us-ascii

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ${facts.recipient}
    host mx2.remote.example [192.0.2.25]
    SMTP error from remote mail server after RCPT TO:<${facts.recipient}>:
    550 5.1.1 <${facts.recipient}>: Recipient address rejected: User unknown

--1768478404-eximdsn-1804289383
Content-type: message/delivery-status

Reporting-MTA: dns; mx.remote.example

Action: failed
Final-Recipient: rfc822;${facts.recipient}
Status: 5.0.0
Remote-MTA: dns; mx2.remote.example
Diagnostic-Code: smtp; 550 5.1.1 <${facts.recipient}>: Recipient address rejected: User unknown

--1768478404-eximdsn-1804289383
Content-type: message/rfc822

Return-path: <${facts.sender}>
${original(facts)}
--1768478404-eximdsn-1804289383--
`;

const eximPlain = (facts: ReportFacts) => `Return-path: <>
X-Failed-Recipients: ${facts.recipient}
Auto-Submitted: auto-replied
From: Mail Delivery System <Mailer-Daemon@mx.remote.example>
To: ${facts.sender}
Subject: Mail delivery failed: returning message to sender
Message-Id: <E1tXYZb-0001Ab-0D@mx.remote.example>
Date: Thu, 15 Jan 2026 12:00:04 +0000

This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ${facts.recipient}
    host mx2.remote.example [192.0.2.25]
    SMTP error from remote mail server after RCPT TO:<${facts.recipient}>:
    550 5.1.1 <${facts.recipient}>: User unknown

------ This is a copy of the message, including all the headers. ------

Return-path: <${facts.sender}>
Received: from [192.0.2.9] (helo=mail.example.org)
	by mx.remote.example with esmtps (Exim 4.72)
	id 1tXYZb-0001Ab-0C; Thu, 15 Jan 2026 12:00:02 +0000
${original(facts)}`;

const qmail = (facts: ReportFacts) => `Return-Path: <>
Received: (qmail 12345 invoked for bounce); 15 Jan 2026 12:00:05 -0000
Date: 15 Jan 2026 12:00:05 -0000
From: MAILER-DAEMON@mx.remote.example
To: ${facts.sender}
Subject: failure notice

Hi. This is the qmail-send program at mx.remote.example.
I'm afraid I wasn't able to deliver your message to the following addresses.
This is a permanent error; I've given up. Sorry it didn't work out.

<${facts.recipient}>:
Sorry, no mailbox here by that name. (#5.1.1)

--- Below this line is a copy of the message.

Return-Path: <${facts.sender}>
Received: (qmail 12344 invoked from network); 15 Jan 2026 12:00:04 -0000
Received: from mail.example.org (192.0.2.9)
  by mx.remote.example with SMTP; 15 Jan 2026 12:00:04 -0000
${original(facts)}`;

const yahoo = (facts: ReportFacts) => `Return-Path: <>
From: MAILER-DAEMON@yahoo.example
To: ${facts.sender}
X-Loop: MAILER-DAEMON@yahoo.example
Subject: Delivery failure
Date: Thu, 15 Jan 2026 12:00:05 -0000
Message-Id: <202601151200.0001@mta1.yahoo.example>

Sorry, we were unable to deliver your message to the following address.

<${facts.recipient}>:
554: delivery error: dd This user doesn't have a yahoo.example account (${facts.recipient}) [0] - mta1.yahoo.example

--- Below this line is a copy of the message.

Received: from 192.0.2.9  (EHLO mail.example.org)
  by mta1.yahoo.example with SMTPs; Thu, 15 Jan 2026 12:00:04 +0000
${original(facts)}`;

const sendmail = (facts: ReportFacts) => `Return-Path: <MAILER-DAEMON@mx.remote.example>
Received: from localhost (localhost) by mx.remote.example (8.17.1/8.17.1)
	id 60FC05ab012345; Thu, 15 Jan 2026 12:00:05 GMT
Date: Thu, 15 Jan 2026 12:00:05 GMT
From: Mail Delivery Subsystem <MAILER-DAEMON@mx.remote.example>
Message-Id: <202601151200.60FC05ab012345@mx.remote.example>
To: <${facts.sender}>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="60FC05ab012345.1768478405/mx.remote.example"
Subject: Returned mail: see transcript for details
Auto-Submitted: auto-generated (failure)

This is a MIME-encapsulated message

--60FC05ab012345.1768478405/mx.remote.example

The original message was received at Thu, 15 Jan 2026 12:00:04 GMT
from mail.example.org [192.0.2.9]

   ----- The following addresses had permanent fatal errors -----
<${facts.recipient}>
    (reason: 550 5.1.1 <${facts.recipient}>... User unknown)

   ----- Transcript of session follows -----
550 5.1.1 <${facts.recipient}>... User unknown

--60FC05ab012345.1768478405/mx.remote.example
Content-Type: message/delivery-status

Reporting-MTA: dns; mx.remote.example
Received-From-MTA: DNS; mail.example.org
Arrival-Date: Thu, 15 Jan 2026 12:00:04 GMT

Final-Recipient: RFC822; <${facts.recipient}>
Action: failed
Status: 5.1.1
Diagnostic-Code: SMTP; 550 5.1.1 <${facts.recipient}>... User unknown
Last-Attempt-Date: Thu, 15 Jan 2026 12:00:05 GMT

--60FC05ab012345.1768478405/mx.remote.example
Content-Type: text/rfc822-headers

Return-Path: <${facts.sender}>
${originalHeader(facts)}
--60FC05ab012345.1768478405/mx.remote.example--

`;

const ses = (facts: ReportFacts) => `X-Original-To: ${facts.sender}
Date: Thu, 15 Jan 2026 12:00:06 +0000
From: MAILER-DAEMON@eu-west-1.amazonses.example
To: ${facts.sender}
Message-ID: <0102019b0000abcd-00000000-1111-2222-3333-444444444444-000000@eu-west-1.amazonses.example>
Subject: Delivery Status Notification (Failure)
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="----=_Part_1234_567890.1768478406000"

------=_Part_1234_567890.1768478406000
Content-Type: text/plain; charset=us-ascii
Content-Transfer-Encoding: 7bit
Content-Description: Notification

An error occurred while trying to deliver the mail to the following recipients:
${facts.recipient}
------=_Part_1234_567890.1768478406000
Content-Type: message/delivery-status
Content-Transfer-Encoding: 7bit
Content-Description: Delivery Status Notification

Reporting-MTA: dns; a7-20.smtp-out.eu-west-1.amazonses.example

Action: failed
Final-Recipient: rfc822; ${facts.recipient}
Diagnostic-Code: smtp; 550 5.1.1 user unknown
Status: 5.1.1


------=_Part_1234_567890.1768478406000
Content-Type: message/rfc822
Content-Description: Undelivered Message

Received: from mail.example.org by email-smtp.eu-west-1.amazonses.example
${original(facts)}
------=_Part_1234_567890.1768478406000--
`;

const outlookCom = (facts: ReportFacts) => `From: postmaster@outlook.example
To: ${facts.sender}
Date: Thu, 15 Jan 2026 12:00:05 +0000
MIME-Version: 1.0
Content-Type: multipart/report; report-type=delivery-status;
	boundary="9B095B5ADSN=_01D9E1F0AB12CD34000012AB"
X-DSNContext: 335a7efd - 4523 - 00000001 - 80040546
Message-ID: <aBcD1234E00005678@BL2NAM02FT012.mail.outlook.example>
Subject: Delivery Status Notification (Failure)

This is a MIME-formatted message.
Portions of this message may be unreadable without a MIME-capable mail program.

--9B095B5ADSN=_01D9E1F0AB12CD34000012AB
Content-Type: text/plain; charset=unicode-1-1-utf-7

This is an automatically generated Delivery Status Notification.

Delivery to the following recipients failed.

       ${facts.recipient}


--9B095B5ADSN=_01D9E1F0AB12CD34000012AB
Content-Type: message/delivery-status

Reporting-MTA: dns;BL2NAM02FT012.mail.outlook.example
Received-From-MTA: dns;mail.example.org
Arrival-Date: Thu, 15 Jan 2026 12:00:04 +0000

Final-Recipient: rfc822;${facts.recipient}
Action: failed
Status: 5.5.0
Diagnostic-Code: smtp;550 5.5.0 Requested action not taken: mailbox unavailable (S2017062302).


--9B095B5ADSN=_01D9E1F0AB12CD34000012AB
Content-Type: message/rfc822

${original(facts)}
--9B095B5ADSN=_01D9E1F0AB12CD34000012AB--
`;

/** Exchange Online where its connector gave up: diagnostics of its own, header alone, in a second language besides. */
const exchangeOnline = (facts: ReportFacts) => `MIME-Version: 1.0
From: <postmaster@remote.example>
To: <${facts.sender}>
Date: Thu, 15 Jan 2026 12:00:04 +0000
Content-Type: multipart/report; report-type=delivery-status;
	boundary="e0f3a4de-3f4c-4c58-9d0e-0a6bfb0f2b11"
X-MS-Exchange-Message-Is-Ndr:
Message-ID: <2b0a@AM0PR01MB0001.prod.example>
In-Reply-To: <${facts.messageId}>
References: <another@remote.example> <${facts.messageId}>
Subject: =?utf-8?B?VW56dXN0ZWxsYmFyOiBOb3RlcyBvZiB0aGUgbWVldGluZw==?=

--e0f3a4de-3f4c-4c58-9d0e-0a6bfb0f2b11
Content-Type: text/html; charset="utf-8"
Content-Transfer-Encoding: base64

PGh0bWw+PGJvZHk+SWhyZSBOYWNocmljaHQga29ubnRlIG5pY2h0IHp1Z2VzdGVsbHQgd2VyZGVuLjwvYm9keT48L2h0bWw+

--e0f3a4de-3f4c-4c58-9d0e-0a6bfb0f2b11
Content-Type: message/delivery-status
Content-Transfer-Encoding: quoted-printable

Reporting-MTA: dns;AM0PR01MB0001.prod.example

Original-Recipient: rfc822;${facts.recipient.replace('@', '=40')}
Final-Recipient: rfc822;${facts.recipient}
Action: failed
Status: 5.2.2
Diagnostic-Code: smtp;554 5.2.2 mailbox full; STOREDRV.Deliver.Exception:QuotaExceededException.MapiExceptionShutoffQuotaExceeded;=
 Failed to process message due to a permanent exception
Remote-MTA: dns;AM0PR01MB0001.prod.example

--e0f3a4de-3f4c-4c58-9d0e-0a6bfb0f2b11
Content-Type: text/rfc822-headers

Received: from mail.example.org (192.0.2.9) by AM0PR01MB0001.prod.example
${originalHeader(facts)}
--e0f3a4de-3f4c-4c58-9d0e-0a6bfb0f2b11--
`;

const arf = (facts: ReportFacts, type = 'abuse') => `From: Feedback Loop <feedback@fbl.remote.example>
To: ${facts.sender}
Date: Fri, 16 Jan 2026 08:00:00 +0000
Subject: FW: Notes of the meeting
Message-ID: <fbl-1@fbl.remote.example>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=feedback-report;
	boundary="part1_13d.2e68ed54_boundary"

--part1_13d.2e68ed54_boundary
Content-Type: text/plain; charset="US-ASCII"
Content-Transfer-Encoding: 7bit

This is an email abuse report for an email message received from IP
192.0.2.9 on Thu, 15 Jan 2026 12:00:02 +0000.

--part1_13d.2e68ed54_boundary
Content-Type: message/feedback-report

Feedback-Type: ${type}
User-Agent: SomeGenerator/1.0
Version: 1
Original-Mail-From: <${facts.sender}>
Original-Rcpt-To: <${facts.recipient}>
Arrival-Date: Thu, 15 Jan 2026 12:00:02 +0000
Reported-Domain: example.org
Source-IP: 192.0.2.9

--part1_13d.2e68ed54_boundary
Content-Type: message/rfc822
Content-Disposition: inline

Received: from mail.example.org (mail.example.org [192.0.2.9])
	by mx.remote.example with ESMTP id M63d4137594e46;
	Thu, 15 Jan 2026 12:00:02 +0000
${original(facts)}
--part1_13d.2e68ed54_boundary--
`;

/** An abuse report of this feedback type (RFC 5965 section 7.3). */
export const feedbackReport = arf;

export const RECORDED_REPORTS: readonly RecordedReport[] = [
  {
    name: 'Postfix, a failure',
    write: facts =>
      postfix(
        facts,
        `I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

<${facts.recipient}>: host mx2.remote.example[192.0.2.25] said: 550 5.1.1
    <${facts.recipient}>: Recipient address rejected: User unknown (in reply to RCPT TO command)`,
        `Final-Recipient: rfc822; forwarded@elsewhere.example
Original-Recipient: rfc822;${facts.recipient}
Action: failed
Status: 5.1.1
Remote-MTA: dns; mx2.remote.example
Diagnostic-Code: smtp; 550 5.1.1 <forwarded@elsewhere.example>: Recipient address
    rejected: User unknown`,
      ),
    kind: 'dsn',
    action: 'failed',
    status: '5.1.1',
    said: /^550 5\.1\.1 <forwarded@elsewhere\.example>: Recipient address rejected: User unknown$/,
  },
  {
    name: 'Postfix, a delay',
    write: facts =>
      postfix(
        facts,
        'THIS IS A WARNING ONLY.  YOU DO NOT NEED TO RESEND YOUR MESSAGE.',
        `Final-Recipient: rfc822; ${facts.recipient}
Original-Recipient: rfc822;${facts.recipient}
Action: delayed
Status: 4.4.1
Diagnostic-Code: X-Postfix; connect to mx2.remote.example[192.0.2.25]:25:
    Connection timed out
Will-Retry-Until: Tue, 20 Jan 2026 12:00:01 +0000 (UTC)`,
      ),
    kind: 'dsn',
    action: 'delayed',
    status: '4.4.1',
    said: /Connection timed out$/,
  },
  {
    name: 'Exchange',
    write: exchange,
    kind: 'dsn',
    action: 'failed',
    status: '5.1.10',
    said: /RecipientNotFound/,
  },
  { name: 'Gmail', write: gmail, kind: 'dsn', action: 'failed', status: '5.1.1', said: /NoSuchUser/ },
  { name: 'Exim', write: exim, kind: 'dsn', action: 'failed', status: '5.1.1', said: /User unknown$/ },
  {
    name: 'Exim in plain text',
    write: eximPlain,
    kind: 'dsn',
    action: 'failed',
    status: '5.1.1',
    said: /^host mx2.*User unknown$/,
  },
  {
    name: 'qmail',
    write: qmail,
    kind: 'dsn',
    action: 'failed',
    status: '5.1.1',
    said: /^Sorry, no mailbox here by that name\. \(#5\.1\.1\)$/,
  },
  { name: 'Yahoo', write: yahoo, kind: 'dsn', action: 'failed', status: null, said: /doesn't have a yahoo/ },
  {
    name: 'Sendmail',
    write: sendmail,
    kind: 'dsn',
    action: 'failed',
    status: '5.1.1',
    said: /User unknown$/,
  },
  { name: 'Amazon SES', write: ses, kind: 'dsn', action: 'failed', status: '5.1.1', said: /user unknown$/ },
  {
    name: 'Outlook.com',
    write: outlookCom,
    kind: 'dsn',
    action: 'failed',
    status: '5.5.0',
    said: /mailbox unavailable/,
  },
  {
    name: 'Exchange Online, a full mailbox',
    write: exchangeOnline,
    kind: 'dsn',
    action: 'failed',
    status: '5.2.2',
    said: /QuotaExceeded/,
  },
  {
    name: 'Zimbra',
    write: facts =>
      postfix(
        facts,
        `I'm sorry to have to inform you that your message could not
be delivered to one or more recipients. It's attached below.

<${facts.recipient}>: host zimbra.remote.example[192.0.2.26] said: 554 5.1.1
    <${facts.recipient}>: Recipient address rejected: No such user here`,
        `Final-Recipient: rfc822; ${facts.recipient}
Original-Recipient: rfc822;${facts.recipient}
Action: failed
Status: 5.0.0
Remote-MTA: dns; zimbra.remote.example
Diagnostic-Code: smtp; 554 5.1.1 <${facts.recipient}>: Recipient address rejected: No such
    user here`,
      ),
    kind: 'dsn',
    action: 'failed',
    status: '5.1.1',
    said: /No such user here$/,
  },
  {
    name: 'Yahoo of today',
    write: facts =>
      postfix(
        facts,
        `Sorry, we were unable to deliver your message to the following address.

<${facts.recipient}>:
552: 1 Requested mail action aborted, mailbox not found`,
        `Final-Recipient: rfc822;${facts.recipient}
Action: failed
Status: 5.0.0
Diagnostic-Code: smtp; 552 1 Requested mail action aborted, mailbox not found`,
      ),
    kind: 'dsn',
    action: 'failed',
    status: '5.0.0',
    said: /mailbox not found$/,
  },
  ...(['delivered', 'relayed', 'expanded'] as const).map(action => ({
    name: `Postfix, ${action}`,
    write: (facts: ReportFacts) =>
      postfix(
        facts,
        `Your message was successfully delivered to the destination(s) listed below.

<${facts.recipient}>: delivery via mx2.remote.example[192.0.2.25]:25: 250 2.1.5 Ok`,
        `Final-Recipient: rfc822; ${facts.recipient}
Original-Recipient: rfc822;${facts.recipient}
Action: ${action}
Status: 2.1.5
Remote-MTA: dns; mx2.remote.example
Diagnostic-Code: smtp; 250 2.1.5 Ok`,
      ),
    kind: 'dsn' as const,
    action,
    status: '2.1.5',
    said: /^250 2\.1\.5 Ok$/,
  })),
  { name: 'a complaint', write: arf, kind: 'abuse', action: 'complained', status: null, said: null },
];

/** Mail that answers by itself, or tells of no failure: ordinary mail, whatever it says of addresses and delivery. */
export const RECORDED_ANSWERS: readonly {
  readonly name: string;
  readonly write: (facts: ReportFacts) => string;
}[] = [
  {
    name: 'a vacation of Sieve',
    write: facts => `Return-Path: <>
From: ${facts.recipient}
To: <${facts.sender}>
Subject: Auto: Notes of the meeting
In-Reply-To: <${facts.messageId}>
References: <${facts.messageId}>
Auto-Submitted: auto-replied (vacation)
Precedence: bulk
Content-Type: text/plain; charset=utf-8

I am away until Monday. Mail to ${facts.recipient} is not read; it could not be delivered to anybody else.
`,
  },
  {
    name: 'an absence in Exchange',
    write: facts => `Return-Path: <>
From: Ann <${facts.recipient}>
To: Agent <${facts.sender}>
Subject: Automatic reply: Notes of the meeting
In-Reply-To: <${facts.messageId}>
References: <${facts.messageId}>
X-Auto-Response-Suppress: All
auto-submitted: auto-generated
Content-Type: multipart/alternative; boundary="_000_absence_"
MIME-Version: 1.0

--_000_absence_
Content-Type: text/plain; charset="us-ascii"

I have left the company: 550 5.1.1 ${facts.recipient} User unknown. Write to bob@remote.example.
--_000_absence_
Content-Type: text/html; charset="us-ascii"

<p>I have left the company.</p>
--_000_absence_--
`,
  },
  {
    name: 'an absence told by a mailer daemon, in qmail style',
    write: facts => `Return-Path: <>
From: MAILER-DAEMON@mx.remote.example
To: <${facts.sender}>
In-Reply-To: <${facts.messageId}>
Auto-Submitted: auto-replied

Hi. ${facts.recipient} does not work here any more.

<${facts.recipient}>:
No mailbox here by that name. (#5.1.1)

--- Below this line is a copy of the message.

${original(facts)}`,
  },
  {
    name: 'a delay of Exim in plain text',
    write: facts => `Return-path: <>
From: Mail Delivery System <Mailer-Daemon@mx.remote.example>
To: <${facts.sender}>
Subject: Warning: message 1tXYZa-0001Ab-0C delayed 24 hours
Auto-Submitted: auto-replied

This message was created automatically by mail delivery software.
A message that you sent has not yet been delivered to one or more of its
recipients after more than 24 hours on the queue on mx.remote.example.

The message identifier is:     1tXYZa-0001Ab-0C
The subject of the message is: Notes of the meeting

The address to which the message has not yet been delivered is:

  ${facts.recipient}
    Delay reason: 451 4.1.1 try later

No action is required on your part. Delivery attempts will continue for
some time, and this warning may be repeated at intervals if the message
remains undelivered.

------ This is a copy of the message, including all the headers. ------

${original(facts)}`,
  },
  {
    name: 'a receipt of a reader who deleted it',
    write: facts => `From: ${facts.recipient}
To: <${facts.sender}>
Subject: Not read: Notes of the meeting
In-Reply-To: <${facts.messageId}>
MIME-Version: 1.0
Content-Type: multipart/report; report-type=disposition-notification; boundary=mdn

--mdn
Content-Type: text/plain

Your message was deleted without being read.
--mdn
Content-Type: message/disposition-notification

Reporting-UA: mail.remote.example; Reader
Final-Recipient: rfc822;${facts.recipient}
Original-Message-ID: <${facts.messageId}>
Disposition: automatic-action/MDN-sent-automatically; deleted
Action: failed
Status: 5.1.1
--mdn
Content-Type: message/rfc822

${original(facts)}
--mdn--
`,
  },
];
